-- Counts a delivery that was claimed, now that it starts. Whose worker dies before this is not charged.
-- KEYS  1 stream   ARGV  1 group  2 consumer  3 id  4 which delivery this is
-- Returns 1, or 0 if it is not the consumer's any more
local entry = redis.pcall('XPENDING', KEYS[1], ARGV[1], ARGV[3], ARGV[3], 1)
if entry.err or not entry[1] or entry[1][2] ~= ARGV[2] then return 0 end
redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'RETRYCOUNT', ARGV[4], 'JUSTID')
return 1
