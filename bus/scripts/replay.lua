-- Opens the query of a dead letter again, once: the record goes, so a second replay finds nothing.
-- KEYS  1 dead  2 open  3 counters  4 stream  5 raw key  6 replaying  7 result key  8 the blob's key, if it has one
-- ARGV  1 dead id  2 query_id  3 deadline ms  4 body  5 the blob's ttl ms  6 its bytes
-- Returns REPLAYED | MISSING | OPEN | REFUSED <why>
local record = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])[1]
if not record then return 'MISSING' end
if redis.call('ZSCORE', KEYS[2], ARGV[2]) then return 'OPEN' end
local fields = {}
for i = 1, #record[2], 2 do fields[record[2][i]] = record[2][i + 1] end
local added = put(KEYS[4], ARGV[4], KEYS[8] and {KEYS[8], ARGV[5], ARGV[6]})
if type(added) == 'table' then return 'REFUSED ' .. added.err end
redis.pcall('ZADD', KEYS[2], ARGV[3], ARGV[2])
redis.pcall('HSET', KEYS[6], ARGV[2], fields.result)
redis.pcall('HINCRBY', KEYS[3], 'replayed', 1)
redis.pcall('XDEL', KEYS[1], ARGV[1])
redis.pcall('DEL', KEYS[5], KEYS[7])      -- whoever waits for the result waits for the new one
return 'REPLAYED'
