/**
 * `takeToken` as a Redis script. It uses the clock of Redis, since the gateways' clocks may differ.
 * Keys: the bucket, the running calls. Arguments: calls, milliseconds per token, concurrent calls (0: unlimited), id of
 * this call, milliseconds until it expires unless renewed. Returns the tokens left and the milliseconds to wait.
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

/** Renews running calls. Key: the running calls of one API key. Arguments: milliseconds until they expire, their ids. */
export const KEEP_CALLS = `
local time = redis.call('TIME')
local till = time[1] * 1000 + time[2] / 1000 + ARGV[1]
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], till, ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`;
