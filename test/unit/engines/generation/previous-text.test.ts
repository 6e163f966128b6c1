import {
  createPreviousText,
  previousTextRules,
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
