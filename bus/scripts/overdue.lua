-- Finds work past its deadline that nobody runs. Asked only when tick.lua saw that some query of the lane is overdue.
-- In the stream and nobody's: becomes the consumer's own, which ends it. Parked, or delayed there: goes back to the stage's own stream,
-- whose workers end it without being able to read it; a parked entry that a live worker holds is left to it.
-- A delayed retry of the stream itself is due before its deadline (fate.py), and tick.lua has brought it back.
-- KEYS  1 stream  2 open  3… by parked stream: itself, its delayed, its delayed:body
-- ARGV  1 group  2 consumer  3 how many entries to look at in each place  4 lease ms
--       5 the entry behind which to look on  6… query_ids that the consumer has in hand unstarted
-- Returns where to look on ('0-0': from the beginning), the entries (id, fields, …), which of the query_ids are overdue
local stream, open = KEYS[1], KEYS[2]
local group, me, limit, lease = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function is_overdue(query_id)
  local deadline = query_id and redis.call('ZSCORE', open, query_id)
  return deadline and tonumber(deadline) <= now
end
local function subject_of(event) return string.match(event, '"subject"%s*:%s*"([^"]*)"') end
local function query_of(fields)                 -- nil for a bare entry: its time begins with its adoption
  for i = 1, #fields, 2 do
    if fields[i] == 'event' then return subject_of(fields[i + 1]) end
    if fields[i] == 'subject' then return fields[i + 1] end
  end
  return nil
end
local function holder(key, id)                  -- the pending entry, if there is one and it has a group
  local pending = redis.pcall('XPENDING', key, group, id, id, 1)
  return not pending.err and pending[1] or nil
end

-- At each look some entries further. Not only behind the group's last id: what a stranger acknowledged lies before
-- it, and no read would ever deliver it again.
local found, on = {}, '0-0'
local page = redis.call('XRANGE', stream, '(' .. ARGV[5], '+', 'COUNT', limit)
for _, entry in ipairs(page) do
  if is_overdue(query_of(entry[2])) and not holder(stream, entry[1]) then
    redis.call('XCLAIM', stream, group, me, 0, entry[1], 'FORCE')
    found[#found + 1] = entry[1]
    found[#found + 1] = entry[2]
  end
end
if #page == limit then on = page[#page][1] end

for at = 3, #KEYS, 3 do
  local parked, delayed, delayed_body = KEYS[at], KEYS[at + 1], KEYS[at + 2]
  for _, entry in ipairs(redis.call('XRANGE', parked, '-', '+', 'COUNT', limit)) do
    local held = holder(parked, entry[1])
    if is_overdue(query_of(entry[2])) and not (held and held[3] < lease) then
      if type(redis.pcall('XADD', stream, '*', unpack(entry[2]))) == 'table' then break end
      if held then redis.call('XACK', parked, group, entry[1]) end
      redis.call('XDEL', parked, entry[1])
    end
  end
  local due = redis.call('ZRANGEBYSCORE', delayed, '-inf', string.format('%.0f', now), 'LIMIT', 0, limit)
  for _, id in ipairs(due) do
    local attempt, body = string.match(redis.call('HGET', delayed_body, id) or '', '^(%d+) (.*)$')
    if attempt and is_overdue(string.match(body, '^blob:%S+ (.*)$') or subject_of(body)) then
      if type(put(stream, body, nil, 'attempt', attempt)) == 'table' then break end
      redis.call('ZREM', delayed, id)
      redis.call('HDEL', delayed_body, id)
    end
  end
end

local passed = {}
for i = 6, #ARGV do
  if is_overdue(ARGV[i]) then passed[#passed + 1] = ARGV[i] end
end
return {on, found, passed}
