-- Renews the leases of all that a consumer holds; what another has taken meanwhile is left alone.
-- KEYS  1 stream   ARGV  1 group  2 consumer
-- Returns how many leases were renewed
local renewed, from = 0, '-'
while true do
  local held = redis.pcall('XPENDING', KEYS[1], ARGV[1], from, '+', 1000, ARGV[2])
  if held.err or #held == 0 then return renewed end
  for _, entry in ipairs(held) do
    redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, entry[1], 'JUSTID')
  end
  renewed = renewed + #held
  from = '(' .. held[#held][1]
end
