-- What a worker asks four times a second, in one round trip. Brings due retries back into the stream on the way.
-- KEYS  1 stream  2 delayed  3 delayed:body  4 open  5… the next stages' streams
-- ARGV  1 group  2 consumer  3 how many pending ids to report  4 1 if somebody watches the worker
-- Returns server time (ms), 1 if the group exists, the longest next backlog, own pending (id, idle ms, deliveries, …),
--         other consumers (name, pending, idle ms, …), 1 if some query of the lane is past its deadline,
--         and if it is watched: entries in the stream, the first one's id, delayed, open queries
local stream, delayed, delayed_body = KEYS[1], KEYS[2], KEYS[3]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local due = redis.pcall('ZRANGEBYSCORE', delayed, '-inf', string.format('%.0f', now), 'LIMIT', 0, 100)
if due.err then due = {} end
for _, id in ipairs(due) do
  local stored = redis.call('HGET', delayed_body, id)
  local attempt, body = string.match(stored or '', '^(%d+) (.*)$')
  local added = attempt and put(stream, body, nil, 'attempt', attempt)
  if type(added) == 'table' then break end      -- a full server: the retry stays where it is
  redis.pcall('ZREM', delayed, id)
  redis.pcall('HDEL', delayed_body, id)
end

local backlog = 0
for i = 5, #KEYS do
  local length = redis.pcall('XLEN', KEYS[i])
  if type(length) == 'number' and length > backlog then backlog = length end
end

local overdue = redis.pcall('ZRANGEBYSCORE', KEYS[4], '-inf', string.format('%.0f', now), 'LIMIT', 0, 1)
overdue = overdue.err and 0 or #overdue

local watched = {}
if ARGV[4] == '1' then
  local first = redis.pcall('XRANGE', stream, '-', '+', 'COUNT', 1)
  local function number(reply) return type(reply) == 'number' and reply or 0 end
  watched = {
    number(redis.pcall('XLEN', stream)), first[1] and first[1][1] or '',
    number(redis.pcall('ZCARD', delayed)), number(redis.pcall('ZCARD', KEYS[4])),
  }
end

local own, others = {}, {}
local consumers = redis.pcall('XINFO', 'CONSUMERS', stream, ARGV[1])
if consumers.err then return {now, 0, backlog, own, others, overdue, watched} end
for _, consumer in ipairs(consumers) do
  local info = {}
  for i = 1, #consumer, 2 do info[consumer[i]] = consumer[i + 1] end
  if info.name ~= ARGV[2] then
    others[#others + 1] = info.name
    others[#others + 1] = info.pending
    others[#others + 1] = info.idle
  elseif info.pending > 0 then
    for _, entry in ipairs(redis.call('XPENDING', stream, ARGV[1], '-', '+', ARGV[3], ARGV[2])) do
      own[#own + 1] = entry[1]
      own[#own + 1] = entry[3]
      own[#own + 1] = entry[4]
    end
  end
end
return {now, 1, backlog, own, others, overdue, watched}
