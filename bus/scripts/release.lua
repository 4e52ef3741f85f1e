-- Gives back deliveries that were never started, at no charge: their next delivery counts as this one did.
-- Their new owner is a name that never lives, so siblings take them at their next look.
-- KEYS  1 stream   ARGV  1 group  2 consumer  3 the name  4… id, which delivery it was, …
-- Returns how many were given back
local stream, group, me, nobody = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local released = 0
for i = 4, #ARGV, 2 do
  local id = ARGV[i]
  local entry = redis.call('XPENDING', stream, group, id, id, 1)[1]
  if entry and entry[2] == me then
    redis.call('XCLAIM', stream, group, nobody, 0, id, 'RETRYCOUNT', math.max(ARGV[i + 1] - 1, 0), 'JUSTID')
    released = released + 1
  end
end
return released
