-- Takes over work that nobody holds any more: of consumers that are dead, and what lay longer than the lease.
-- Liveness is checked here, in the same step. A dead consumer without work is removed from the group.
-- A claim charges nothing: which of a dead worker's deliveries had started, and so may have killed it, is unknown.
-- Each counts as the next delivery, and is charged (charge.lua) when it starts; one given back unstarted is at 0.
-- KEYS  1 stream  2… the liveness key of each suspect
-- ARGV  1 group  2 consumer  3 limit  4 lease ms  5 suspect idle ms before it is removed  6… the suspects' names
-- Returns the claimed deliveries: id, deliveries, fields, …
local stream, group, me = KEYS[1], ARGV[1], ARGV[2]
local left, lease = tonumber(ARGV[3]), tonumber(ARGV[4])
local claimed = {}

local function claim(entries, min_idle)
  for _, entry in ipairs(entries) do
    local count = entry[4]
    local taken = redis.call('XCLAIM', stream, group, me, min_idle, entry[1], 'RETRYCOUNT', math.max(count, 1))
    local body = taken[1]
    if type(body) == 'table' and body[2] then
      left = left - 1
      claimed[#claimed + 1] = entry[1]
      claimed[#claimed + 1] = count + 1
      claimed[#claimed + 1] = body[2]
    end
  end
end

for i = 2, #KEYS do
  local suspect = ARGV[i + 4]
  if redis.call('EXISTS', KEYS[i]) == 0 then
    if left > 0 then claim(redis.call('XPENDING', stream, group, '-', '+', left, suspect), 0) end
    if #redis.call('XPENDING', stream, group, '-', '+', 1, suspect) == 0 then
      for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', stream, group)) do
        local info = {}
        for k = 1, #consumer, 2 do info[consumer[k]] = consumer[k + 1] end
        if info.name == suspect and info.idle >= tonumber(ARGV[5]) then
          redis.call('XGROUP', 'DELCONSUMER', stream, group, suspect)
        end
      end
    end
  end
end
if left > 0 and lease > 0 then
  local overdue = {}
  for _, entry in ipairs(redis.call('XPENDING', stream, group, 'IDLE', lease, '-', '+', left)) do
    if entry[2] ~= me then overdue[#overdue + 1] = entry end
  end
  claim(overdue, lease)
end
return claimed
