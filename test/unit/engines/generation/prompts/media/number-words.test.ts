import { numberWords } from '../../../../../../runtime/engines/generation/prompts/media/number-words.js';

/** num2words(value). */
test.each([
  [0, 'zero'],
  [1, 'one'],
  [13, 'thirteen'],
  [20, 'twenty'],
  [64, 'sixty-four'],
  [100, 'one hundred'],
  [101, 'one hundred and one'],
  [768, 'seven hundred and sixty-eight'],
  [1000, 'one thousand'],
  [1024, 'one thousand and twenty-four'],
  [1100, 'one thousand, one hundred'],
  [21_345, 'twenty-one thousand, three hundred and forty-five'],
])('%i', (value, words) => {
  expect(numberWords(value)).toBe(words);
});
