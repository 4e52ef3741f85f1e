-- Settles a batch of deliveries of one stage, each on its own. Redis does not roll back a script, so nothing
-- may fail after an item's first write: types are checked before it, it is the output (the one write that a full
-- server may refuse), and what follows is never refused to a script that has written.
--
-- KEYS  1 stream  2 open  3 counters  4 events  5 dead  6 delayed  7 delayed:body  8 replaying  9 parked
--       10… destinations and keys that items name by index
-- ARGV  1 group  2 consumer  3 lowest id  4 highest id  5 events kept  6 number of items  7… items
-- Item  kind, id, event, then by kind
--       emit    destination, body
--       result  destination, result key, query_id, outcome, ttl ms, kept, body
--       retry   delay ms, attempt, body
--       dead    destination, result key, raw key, query_id, 1 if never accepted, ttl ms, kept, dead kept,
--               raw ttl ms, record, raw, body
--       park    destination, name, attempt, body
--       before it, where there is one:
--       spend   the key of the blob that the entry refers to: deleted with the entry
--       store   key, ttl ms, bytes of the blob that the body refers to: stored before the output
-- Returns a status an item: OK | GONE | NOT_PENDING | FENCED | CLOSED | REFUSED <why>
local stream, open, counters, events, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local delayed, delayed_body, replaying, parked = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local group, me, kept_events, n = ARGV[1], ARGV[2], ARGV[5], tonumber(ARGV[6])

local at = 6
local function take() at = at + 1; return ARGV[at] end
local function take_key() return KEYS[tonumber(take())] end

local types = {}
local function misfit(...)                      -- key, type, key, type …: why the first misfit is refused
  local wanted = {...}
  for i = 1, #wanted, 2 do
    local key = wanted[i]
    if not types[key] then
      local found = redis.call('TYPE', key)
      types[key] = type(found) == 'table' and found.ok or found
    end
    if types[key] ~= 'none' and types[key] ~= wanted[i + 1] then return 'REFUSED WRONGTYPE ' .. key end
  end
  return nil
end

local mine, group_lost = {}, false
local unusable = misfit(stream, 'stream', open, 'zset', counters, 'hash')
if not unusable then
  local pending = redis.pcall('XPENDING', stream, group, ARGV[3], ARGV[4], n + 32, me)
  if pending.err then
    group_lost = true
  else
    for _, entry in ipairs(pending) do mine[entry[1]] = true end
  end
end

local settled, finished, tally, notes, spent = {}, {}, {}, {}, {}
local spending, storing                         -- the next item's blobs
local function fence(id, owner_only)            -- nil if this delivery may be settled now, else its status
  if settled[id] then return 'GONE' end
  if mine[id] then return nil end
  local entry = not group_lost and redis.call('XPENDING', stream, group, id, id, 1)[1]
  if not entry then
    return redis.call('XRANGE', stream, id, id)[1] and 'NOT_PENDING' or 'GONE'
  end
  if owner_only and entry[2] ~= me then return 'FENCED' end
  return nil
end
local function count(name) tally[name] = (tally[name] or 0) + 1 end
local function finish(id, event)
  settled[id], mine[id] = true, nil
  finished[#finished + 1] = id
  notes[#notes + 1] = event
  if spending then spent[#spent + 1] = spending end
  return 'OK'
end
local function drop(id)                         -- its query has its result already: nothing more may leave
  finish(id, nil)
  count('dropped')
  return 'CLOSED'
end
local function leave(destination, kept, query_id, body)   -- the first write of whatever ends a query
  local superseded = types[replaying] ~= 'none' and redis.call('HGET', replaying, query_id)
  if superseded then
    return redis.pcall('XADD', destination, 'MAXLEN', '~', kept, '*', 'event', body, 'supersedes', superseded)
  end
  return redis.pcall('XADD', destination, 'MAXLEN', '~', kept, '*', 'event', body)
end
local function close(query_id, result_key, ttl, body, outcome)
  redis.pcall('SET', result_key, body, 'PX', ttl)
  redis.pcall('ZREM', open, query_id)
  if types[replaying] ~= 'none' then redis.pcall('HDEL', replaying, query_id) end
  count(outcome)
end

local settle = {}

function settle.emit(id, event)
  local destination, body = KEYS[tonumber(ARGV[at + 1])], ARGV[at + 2]
  at = at + 2
  local why = not mine[id] and fence(id, false) or types[destination] ~= 'stream' and misfit(destination, 'stream')
  if why then return why end
  local added = put(destination, body, storing)
  if type(added) == 'table' then return 'REFUSED ' .. added.err end
  return finish(id, event)
end

function settle.result(id, event)
  local destination, key, query_id, outcome = take_key(), take_key(), take(), take()
  local ttl, kept, body = take(), take(), take()
  local why = fence(id, false) or misfit(destination, 'stream', replaying, 'hash')
  if why then return why end
  if not redis.call('ZSCORE', open, query_id) then return drop(id) end
  local added = leave(destination, kept, query_id, body)
  if type(added) == 'table' then return 'REFUSED ' .. added.err end
  close(query_id, key, ttl, body, outcome)
  return finish(id, event)
end

function settle.retry(id, event)
  local delay, attempt, body = tonumber(take()), take(), take()
  local why = fence(id, true) or misfit(delayed, 'zset', delayed_body, 'hash')
  if why then return why end
  local now = redis.call('TIME')
  local due = string.format('%.0f', tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000) + delay)
  local stored = redis.pcall('HSET', delayed_body, id, attempt .. ' ' .. body)
  if type(stored) == 'table' then return 'REFUSED ' .. stored.err end
  redis.pcall('ZADD', delayed, due, id)
  count('retried')
  return finish(id, event)
end

function settle.dead(id, event)
  local destination, key, raw_key, query_id, stranger = take_key(), take_key(), take_key(), take(), take()
  local ttl, kept, kept_dead, raw_ttl = take(), take(), take(), take()
  local record, raw, body = take(), take(), take()
  local why = fence(id, true) or misfit(destination, 'stream', dead, 'stream', replaying, 'hash')
  if why then return why end
  if stranger ~= '1' and not redis.call('ZSCORE', open, query_id) then return drop(id) end
  local added = leave(destination, kept, query_id, body)
  if type(added) == 'table' then return 'REFUSED ' .. added.err end
  redis.pcall('XADD', dead, 'MAXLEN', '~', kept_dead, '*', 'record', record, 'result', added)
  redis.pcall('SET', raw_key, raw, 'PX', raw_ttl)
  if stranger == '1' then
    count('accepted')
    count('strangers')
  end
  close(query_id, key, ttl, body, 'failed')
  count('dead')
  return finish(id, event)
end

function settle.park(id, event)
  local destination, name, attempt, body = take_key(), take(), take(), take()
  local why = fence(id, true) or misfit(destination, 'stream', parked, 'set')
  if why then return why end
  local added = put(destination, body, nil, 'attempt', attempt)
  if type(added) == 'table' then return 'REFUSED ' .. added.err end
  redis.pcall('SADD', parked, name)
  count('parked')
  return finish(id, event)
end

local statuses = {}
for i = 1, n do
  local kind = take()
  spending, storing = nil, nil
  if kind == 'spend' then spending, kind = take_key(), take() end
  if kind == 'store' then storing, kind = {take_key(), take(), take()}, take() end
  local id, event = ARGV[at + 1], ARGV[at + 2]
  at = at + 2
  if unusable then
    statuses[i] = unusable
  else
    statuses[i] = settle[kind](id, event)
  end
end

if #finished > 0 then
  redis.pcall('XACK', stream, group, unpack(finished))
  redis.pcall('XDEL', stream, unpack(finished))
  if #spent > 0 and type(redis.pcall('UNLINK', unpack(spent))) == 'table' then
    for _, key in ipairs(spent) do redis.pcall('UNLINK', key) end   -- a stranger's reference, which this user may not touch
  end
  local seq = redis.pcall('HINCRBY', counters, 'events', #notes)
  for name, by in pairs(tally) do redis.pcall('HINCRBY', counters, name, by) end
  local lost = 0
  local call = redis.pcall
  local first = seq - #notes
  for i = 1, #notes do
    local noted = call('XADD', events, 'MAXLEN', '~', kept_events, '*', 'event', notes[i], 'seq', first + i)
    if type(noted) == 'table' then lost = lost + 1 end
  end
  if lost > 0 then redis.pcall('HINCRBY', counters, 'events_lost', lost) end
end
return statuses
