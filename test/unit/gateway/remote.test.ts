import { Readable } from 'node:stream';
import { createBreaker } from '../../../gateway/remote/breaker.js';
import { readServerEvents } from '../../../gateway/remote/events.js';
import { createPatience, retryAfterOf } from '../../../gateway/remote/retry.js';

describe('the breaker', () => {
  function breaker() {
    let time = 0;
    const lines: string[] = [];
    const { begin } = createBreaker({ name: 'a/b', log: (line) => lines.push(line), now: () => time });
    const fail = (times: number) => {
      for (let i = 0; i < times; i++) begin().failed();
    };
    return { begin, fail, lines, wait: (ms: number) => void (time += ms) };
  }
  const open = expect.objectContaining({ code: 'overloaded' });

  test('opens after five failures in a row, not after four and a success', () => {
    const { begin, fail } = breaker();
    fail(4);
    begin().succeeded();
    fail(4);
    begin().abandoned();
    fail(1);
    expect(begin).toThrow(expect.objectContaining({ code: 'overloaded', retryAfter: 5 }));
  });

  test('lets one through after the pause, which grows with each that fails', () => {
    const { begin, fail, wait } = breaker();
    fail(5);
    wait(5000);
    const trial = begin();
    expect(begin).toThrow(open);
    trial.failed();
    wait(9999);
    expect(begin).toThrow(open);
    wait(1);
    const gone = begin();
    gone.abandoned();
    const next = begin();
    next.answers();
    // Others may ask as soon as there is an answer, and one more failure is enough.
    begin().failed();
    expect(begin).toThrow(open);
    next.succeeded();
    expect(begin).toThrow(open);
  });

  test('closes with a success; what ends twice counts once', () => {
    const { begin, fail, wait, lines } = breaker();
    fail(5);
    wait(5000);
    begin().succeeded();
    const one = begin();
    for (let i = 0; i < 9; i++) one.failed();
    fail(3);
    expect(() => begin().abandoned()).not.toThrow();
    expect(lines).toEqual([
      'the provider of a/b has failed 5 times in a row: no calls for 5 s',
      'the provider of a/b answers again',
    ]);
  });

  test('a failure of what began before does not keep it open', () => {
    const { begin, fail, wait } = breaker();
    const early = begin();
    fail(5);
    wait(4000);
    early.failed();
    wait(1000);
    expect(() => begin()).not.toThrow();
  });
});

test('patience ends with what is left of it', () => {
  const { next } = createPatience(3000, () => 0);
  expect([next(undefined), next(undefined), next(1400), next(1000), next(100)]).toEqual([
    500,
    1000,
    1400,
    undefined,
    100,
  ]);
});

test.each([
  ['3', 3000],
  ['0', 0],
  ['Thu, 26 Nov 2026 10:00:05 GMT', 5000],
  ['Thu, 26 Nov 2026 09:00:00 GMT', 0],
  ['soon', undefined],
  ['-3', undefined],
  ['2026', 2_026_000],
  [undefined, undefined],
])('Retry-After %s', (header, ms) => {
  expect(retryAfterOf(header, Date.UTC(2026, 10, 26, 10))).toBe(ms);
});

test('events that are cut anywhere, also inside of a character', async () => {
  const bytes = Buffer.from('event: a\ndata: é\n\n: ping\n\ndata: 1\ndata: 2\n\n');
  const body = Readable.from([...bytes].map((byte) => Buffer.from([byte])));
  const found = [];
  for await (const { event, data } of readServerEvents(body, 'a/b')) found.push([event, data]);
  expect(found).toEqual([
    ['a', 'é'],
    [undefined, '1\n2'],
  ]);
});
