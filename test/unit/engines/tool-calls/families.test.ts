import { describe, expect, test } from '@jest/globals';
import { FAMILIES } from './families.js';
import { inCharacters, inTokens, joined, readAnswer, type Read } from './support.js';

const parsed = (calls: Read['calls']) =>
  calls.map(({ name, arguments: given }) => ({ name, arguments: JSON.parse(given) as unknown }));

const TWO = [
  { name: 'get_weather', arguments: { city: 'Paris', days: 3 } },
  { name: 'get_time', arguments: {} },
];

describe.each(Object.entries(FAMILIES))('%s', (_, family) => {
  const { format, reasoning, special } = family;
  const whole = (text: string, options = {}) =>
    readAnswer(inTokens(text, special), { format, reasoning, special, ...options });

  test('two calls after a text', () => {
    const { content, calls } = whole(family.two);
    expect({ content, calls: parsed(calls) }).toEqual({ content: family.text, calls: TWO });
  });

  test('the first call only, where calls may not be parallel', () => {
    const { content, calls } = whole(family.two, { parallel: false });
    expect({ content, calls: parsed(calls) }).toEqual({ content: family.text, calls: TWO.slice(0, 1) });
  });

  test('a function that is not there is no call', () => {
    const { content, calls, deltas } = whole(family.unknown);
    expect(calls).toEqual([]);
    expect(content).toContain('launch');
    expect(deltas.some((delta) => 'call' in delta)).toBe(false);
  });

  test('marks in a text of the arguments are text', () => {
    const { content, calls } = whole(family.marks);
    expect(content).toBe('');
    expect(parsed(calls)).toEqual([{ name: 'get_weather', arguments: { city: 'a<|im_end|>"b\n' } }]);
  });

  test('without calls, a text is itself', () => {
    const text =
      format.kind === 'recipient' ? 'all\n' : format.kind === 'harmony' ? '<|channel|>final<|message|>' : '';
    expect(whole(`${text}1 < 2, {so} [it] is.\n`)).toMatchObject({
      content: '1 < 2, {so} [it] is.\n',
      calls: [],
    });
  });

  test.each(['two', 'unknown', 'marks'] as const)(
    'however it is cut into pieces, the same is read: %s',
    (name) => {
      const text = family[name];
      const { deltas: _, ...expected } = whole(text);
      const characters = inCharacters(text, special);
      for (const pieces of [characters, inTokens(text, special), ...cutsInTwo(characters, special)]) {
        const { deltas, ...read } = readAnswer(pieces, { format, reasoning, special });
        expect(read).toEqual(expected);
        expect(joined(deltas)).toEqual(expected);
      }
    },
  );

  test('cut off anywhere, what is whole is there, and nothing else is told', () => {
    const characters = inCharacters(family.two, special);
    for (let length = 0; length <= characters.length; length++) {
      const { content, calls, deltas } = readAnswer(characters.slice(0, length), {
        ...{ format, reasoning, special, cut: true },
      });
      expect(TWO.slice(0, calls.length)).toEqual(parsed(calls));
      expect(joined(deltas).content).toBe(content);
      const told = joined(deltas).calls.slice(0, calls.length);
      expect(told).toEqual(calls);
      // What may have become a marker is content.
      expect(content.slice(0, family.text.length)).toBe(family.text.slice(0, content.length));
      expect(content.length - family.text.length).toBeLessThan(30);
    }
  });
});

/** All ways to give a text in two pieces; special tokens stay whole. */
function cutsInTwo(characters: readonly string[], special: readonly string[]): string[][] {
  return characters.map((_, at) =>
    [characters.slice(0, at), characters.slice(at)].flatMap((half) => inTokensOf(half, special)),
  );
}

function inTokensOf(characters: readonly string[], special: readonly string[]): string[] {
  const pieces: string[] = [];
  let open = false;
  for (const character of characters) {
    const token = special.includes(character);
    if (token || !open) pieces.push(character);
    else pieces[pieces.length - 1] += character;
    open = !token;
  }
  return pieces;
}
