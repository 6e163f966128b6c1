import {
  createPreviousText,
  previousTextRules,
  promptIdsOf,
} from '../../../../runtime/engines/generation/speech/previous-text.js';

const START = 90;
const options = { prompt_ids: [START, 5, 6], condition_on_prev_tokens: true };

test.each([
  ['by its name', { prev_sot_token_id: START }, [START, 5, 6]],
  // transformers takes the token off the given words only where it is named.
  ['as the last but one of those suppressed', { suppress_tokens: [1, START, 91] }, [START, START, 5, 6]],
])('words to expect begin with the token that a repository names %s', (_, generation, prefix) => {
  const rules = previousTextRules(generation, {}, 100);
  expect(createPreviousText(options, rules).prefix).toEqual(prefix);
});

describe('words to expect as a text', () => {
  const tokenizer = {
    encode: (text: string) => ({ ids: Array.from(text, (letter) => letter.codePointAt(0)!) }),
    specialIds: new Set([60]),
  };
  const rules = previousTextRules({ prev_sot_token_id: START }, { max_target_positions: 10 }, 200);

  test('begin with the token and a blank, and the last ones count', () => {
    expect(promptIdsOf(' ab ', tokenizer, rules)).toEqual([START, 32, 97, 98]);
    expect(promptIdsOf('abcdef', tokenizer, rules)).toEqual([START, 99, 100, 101, 102]);
  });

  test('hold no special tokens', () => {
    for (const text of ['a<b', 'aȀb'])
      expect(() => promptIdsOf(text, tokenizer, rules)).toThrow(/params\.prompt: special tokens/);
  });

  test('need a token that begins them', () => {
    expect(() => promptIdsOf('a', tokenizer, previousTextRules({}, {}, 100))).toThrow(/prev_sot_token_id/);
  });
});
