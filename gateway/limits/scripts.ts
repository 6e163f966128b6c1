/**
 * What `takeToken` reckons, inside Redis and by its clock: gateways may disagree about the time.
 * Keys: the bucket, the calls under way. Arguments: calls, milliseconds for one, calls at the same time (0: any), id of
 * this call, milliseconds that it counts without being named again. Gives what is left and the milliseconds to wait.
 */
export const TAKE_TOKEN = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local calls, interval, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if most > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  if redis.call('ZCARD', KEYS[2]) >= most then return {0, 1000} end
end
local full = tonumber(redis.call('GET', KEYS[1]) or now)
local ahead = math.max(0, full - now) + interval
if ahead > calls * interval + 0.01 then return {0, math.ceil(ahead - calls * interval)} end
redis.call('SET', KEYS[1], string.format('%.3f', now + ahead), 'PX', math.ceil(ahead) + 1)
if most > 0 then
  redis.call('ZADD', KEYS[2], now + ARGV[5], ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
return {math.floor((calls * interval - ahead) / interval + 0.000001), 0}
`;

/** Names calls that are still under way. Key: those of one key. Arguments: milliseconds that they count from now on, ids. */
export const KEEP_CALLS = `
local time = redis.call('TIME')
local till = time[1] * 1000 + time[2] / 1000 + ARGV[1]
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], till, ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`;
