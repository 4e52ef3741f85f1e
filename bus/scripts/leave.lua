-- Removes a consumer that has nothing pending, and its liveness key.
-- KEYS  1 stream  2 liveness key   ARGV  1 group  2 consumer
local held = redis.pcall('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2])
if not held.err and #held == 0 then redis.pcall('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2]) end
return redis.call('DEL', KEYS[2])
