-- Replaces a bare entry by its envelope and opens its query; a query_id that is known is dropped and counted.
-- KEYS  1 queries  2 open  3 counters  4 result key  5 idempotency key  6 the blob's key, if it has one
-- ARGV  1 group  2 entry id  3 query_id  4 payload digest  5 deadline ms  6 idempotency ttl ms  7 body
--       8 the blob's ttl ms  9 its bytes
-- Returns ADOPTED | KNOWN | GONE | REFUSED <why>
local queries, open, counters, result, idempotency = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local group, id, query_id = ARGV[1], ARGV[2], ARGV[3]
for key, wanted in pairs({[open] = 'zset', [counters] = 'hash'}) do
  local found = redis.call('TYPE', key)
  found = type(found) == 'table' and found.ok or found
  if found ~= 'none' and found ~= wanted then return 'REFUSED WRONGTYPE ' .. key end
end
local pending = redis.pcall('XPENDING', queries, group, id, id, 1)
if pending.err or not pending[1] then return 'GONE' end
local function forget()
  redis.pcall('XACK', queries, group, id)
  redis.pcall('XDEL', queries, id)
end
local known = redis.call('ZSCORE', open, query_id) or redis.call('EXISTS', result) == 1
  or redis.call('EXISTS', idempotency) == 1
if known then
  forget()
  redis.pcall('HINCRBY', counters, 'duplicates', 1)
  return 'KNOWN'
end
local added = put(queries, ARGV[7], KEYS[6] and {KEYS[6], ARGV[8], ARGV[9]})
if type(added) == 'table' then return 'REFUSED ' .. added.err end
redis.pcall('ZADD', open, ARGV[5], query_id)
redis.pcall('SET', idempotency, ARGV[4] .. ' ' .. query_id, 'PX', ARGV[6])
redis.pcall('HINCRBY', counters, 'accepted', 1)
redis.pcall('HINCRBY', counters, 'adopted', 1)
forget()
return 'ADOPTED'
