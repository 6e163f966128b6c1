import { NO_ANSWER } from '../../../gateway/http/proxy.js';
import { createTryAgain } from '../../../gateway/http/try-again.js';
import { RunError } from '../../../runtime/core/errors.js';

const refusal = new RunError('stopping', 'the server is stopping');
const failed = (code: string, message = NO_ANSWER) =>
  new RunError('engine_crashed', message, { cause: Object.assign(new Error(code), { code }) });

test('a refusal is sent on at once, then ever more slowly, for a while', () => {
  let now = 0;
  const again = createTryAgain(() => now);
  const pauses = [];
  for (;;) {
    const pause = again.pauseAfter(refusal);
    if (pause === undefined) break;
    pauses.push(pause);
    now += pause;
  }
  expect(pauses.slice(0, 4)).toEqual([0, 50, 100, 200]);
  expect(Math.max(...pauses)).toBe(1000);
  expect([now > 13_000, now <= 15_000]).toEqual([true, true]);
});

test.each(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])(
  '%s: nothing was reached, so there are three tries',
  (code) => {
    const again = createTryAgain();
    expect([1, 2, 3].map(() => again.pauseAfter(failed(code)))).toEqual([0, 0, undefined]);
  },
);

test.each(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])('%s: broken, so there are two', (code) => {
  const again = createTryAgain();
  expect([1, 2].map(() => again.pauseAfter(failed(code)))).toEqual([0, undefined]);
});

test.each([
  ['an answer that broke off', failed('UND_ERR_SOCKET', 'the model broke off; try again')],
  ['an error of the model', new RunError('engine_failed', NO_ANSWER)],
  ['its own 503', new RunError('overloaded', 'too many')],
  ['anything else', new TypeError('no')],
])('%s is for the caller', (_name, error) => {
  expect(createTryAgain().pauseAfter(error)).toBeUndefined();
});
