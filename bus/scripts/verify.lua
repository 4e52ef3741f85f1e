-- Reads both sides of the conservation law in one step.
-- KEYS  1 open  2 counters  3 parked  4 queries, then work streams and parked streams, each with its delayed set
-- ARGV  1 number of work streams  2 number of parked streams named here
-- Returns open, entries in work streams, parked, delayed, bare entries, parked streams known, counters (name, value, …)
local streams, parked_named = tonumber(ARGV[1]), tonumber(ARGV[2])
local working, delayed, parked, bare = 0, 0, 0, 0
local at = 4
for _ = 1, streams do
  working = working + redis.call('XLEN', KEYS[at + 1])
  delayed = delayed + redis.call('ZCARD', KEYS[at + 2])
  at = at + 2
end
for _ = 1, parked_named do
  parked = parked + redis.call('XLEN', KEYS[at + 1])
  delayed = delayed + redis.call('ZCARD', KEYS[at + 2])
  at = at + 2
end
local open = redis.call('ZCARD', KEYS[1])
local from = '-'                                -- even if the sums agree: a bare entry may hide a lost one
while true do
  local page = redis.call('XRANGE', KEYS[4], from, '+', 'COUNT', 500)
  if #page == 0 then break end
  for _, entry in ipairs(page) do
    local enveloped = false
    for i = 1, #entry[2], 2 do enveloped = enveloped or entry[2][i] == 'event' or entry[2][i] == 'blob' end
    if not enveloped then bare = bare + 1 end
  end
  from = '(' .. page[#page][1]
end
return {open, working, parked, delayed, bare, redis.call('SCARD', KEYS[3]), redis.call('HGETALL', KEYS[2])}
