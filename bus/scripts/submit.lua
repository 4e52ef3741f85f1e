-- Accepts queries: all writes of one acceptance or none. A known idempotency key is answered, not repeated.
-- KEYS  1 queries  2 open  3 counters  4… one idempotency key an item, then one key a blob
-- ARGV  1 number of items  2 open mark  3 idempotency ttl ms, then by item: query_id, payload digest, deadline ms, body;
--       then by blob: the number of its item, ttl ms, bytes
-- A known key is written again with a fresh ttl: so this connection's WAIT and WAITAOF cover it too.
-- Returns a pair an item: ACCEPTED | KNOWN | CONFLICT | OVERLOADED | REFUSED <why>, and the query_id that counts
local queries, open, counters = KEYS[1], KEYS[2], KEYS[3]
local n, mark, ttl = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
for key, wanted in pairs({[queries] = 'stream', [open] = 'zset', [counters] = 'hash'}) do
  local found = redis.call('TYPE', key)
  found = type(found) == 'table' and found.ok or found
  if found ~= 'none' and found ~= wanted then return redis.error_reply('WRONGTYPE ' .. key) end
end

local function submit(key, query_id, digest, deadline, body, blob)
  local known = redis.pcall('GET', key)
  if type(known) == 'table' then return {'REFUSED ' .. known.err, query_id} end
  if known then
    local known_digest, known_id = string.match(known, '^(%S+) (.*)$')
    if known_digest ~= digest then return {'CONFLICT', known_id} end
    redis.pcall('PEXPIRE', key, ttl)
    return {'KNOWN', known_id}
  end
  if redis.call('ZSCORE', open, query_id) then return {'CONFLICT', query_id} end
  if redis.call('ZCARD', open) >= mark then return {'OVERLOADED', query_id} end
  local added = put(queries, body, blob)
  if type(added) == 'table' then return {'REFUSED ' .. added.err, query_id} end
  redis.pcall('ZADD', open, deadline, query_id)
  redis.pcall('SET', key, digest .. ' ' .. query_id, 'PX', ttl)
  redis.pcall('HINCRBY', counters, 'accepted', 1)
  return {'ACCEPTED', query_id}
end

local blobs = {}
for i = 1, #KEYS - 3 - n do
  local at = 3 * i + 4 * n + 1
  blobs[tonumber(ARGV[at])] = {KEYS[3 + n + i], ARGV[at + 1], ARGV[at + 2]}
end
local answers = {}
for i = 1, n do
  local at = 4 * i
  answers[i] = submit(KEYS[3 + i], ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], blobs[i])
end
return answers
