import { createRandom } from '../../../../../runtime/engines/generation/search/random.js';
import { createStopStringFilter } from '../../../../../runtime/engines/generation/output/stop-string-filter.js';

/** The text before the stop string that is complete first. */
function reference(text: string, stops: string[]): string {
  for (let end = 1; end <= text.length; end++) {
    const found = stops.filter((stop) => text.slice(0, end).endsWith(stop)).map((stop) => end - stop.length);
    if (found.length > 0) return text.slice(0, Math.min(...found));
  }
  return text;
}

const uniform = createRandom({ seed: 2 });
const word = (length: number) => Array.from({ length }, () => 'ab'[Math.floor(uniform() * 2)]).join('');

test('lets through what comes before the first stop string, however the text is cut', () => {
  for (let round = 0; round < 2000; round++) {
    const stops = Array.from({ length: Math.floor(uniform() * 4) }, () =>
      word(1 + Math.floor(uniform() * 9)),
    );
    const text = word(Math.floor(uniform() * 60));
    let gate = createStopStringFilter(stops);
    let out = '';
    for (let at = 0; at < text.length && !gate.stopped;) {
      const length = 1 + Math.floor(uniform() * 7);
      out += gate.push(text.slice(at, at + length));
      at += length;
      if (uniform() < 0.2) gate = gate.fork();
    }
    expect(out + gate.flush()).toBe(reference(text, stops));
  }
});

test.each([
  [['b', 'abc', 'c'], 'xab', 0],
  [['abc', 'bc', 'd'], 'xabc', 0],
  [['zz', 'bc'], 'xabc', 1],
  [['zz'], 'xabc', undefined],
])('of %j in %j number %p has stopped it', (stops, text, by) => {
  const gate = createStopStringFilter(stops);
  for (const character of text) gate.push(character);
  expect([gate.stoppedBy, gate.stopped]).toEqual([by, by !== undefined]);
});

test('a fork and its origin go their own ways', () => {
  const gate = createStopStringFilter(['xyz']);
  gate.push('ax');
  const other = gate.fork();
  expect([gate.push('yz'), gate.stopped]).toEqual(['', true]);
  expect([other.push('yw'), other.stopped]).toEqual(['xyw', false]);
});

test('long stop strings that almost match cost a constant per character', () => {
  const stops = Array.from({ length: 16 }, (_, i) => 'a'.repeat(100_000 - i) + 'b');
  const gate = createStopStringFilter(stops);
  for (let i = 0; i < 20_000; i++) gate.push('aa');
  expect(gate.flush()).toHaveLength(40_000);
});
