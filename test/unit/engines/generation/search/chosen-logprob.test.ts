import { chosenLogprob } from '../../../../../runtime/engines/generation/search/chosen-logprob.js';
import { settingsOf } from '../support.js';

const scores = Float32Array.of(2, -Infinity, 1, 0);
const logSum = (...values: number[]) => Math.log(values.reduce((sum, value) => sum + Math.exp(value), 0));

test('greedy: among all tokens that the processors left', () => {
  expect(chosenLogprob(scores, 2, settingsOf({}))).toBeCloseTo(1 - logSum(2, 1, 0), 6);
});

test('drawn: among those that the warpers left, as at a temperature of 1', () => {
  const settings = settingsOf({ do_sample: true, temperature: 0.5, top_k: 2 });
  expect(chosenLogprob(scores, 2, settings)).toBeCloseTo(1 - logSum(2, 1), 6);
});
