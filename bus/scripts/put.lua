-- Comes before every script that adds entries to work streams.
-- A body is a message, or `blob:<name> <query_id>` where the message lies under a key of its own: no JSON begins so.
-- A blob {key, ttl ms, bytes} is stored here too, before its entry: an entry never refers to what isn't there yet.
-- Returns the entry's id, or the error; then nothing is left behind.
local function put(stream, body, blob, ...)
  local name, query_id
  if string.byte(body) == 98 then name, query_id = string.match(body, '^blob:(%S+) (.*)$') end
  if not name then return redis.pcall('XADD', stream, '*', 'event', body, ...) end
  if blob then
    local stored = redis.pcall('SET', blob[1], blob[3], 'PX', blob[2])
    if stored.err then return stored end
  end
  local added = redis.pcall('XADD', stream, '*', 'blob', name, 'subject', query_id, ...)
  if blob and type(added) == 'table' then redis.pcall('UNLINK', blob[1]) end
  return added
end
