import type { GenerateOptions } from '../../../../../runtime/core/handles/index.js';
import { generate } from '../../../../../runtime/engines/generation/generate.js';
import { answersOf, bigram, numberTokenizer, settingsOf } from '../support.js';

const VOCABULARY = 5;
/** Rows of raw scores by the last token. */
const ROWS = [
  [0, 0, 0, 0, 0],
  [2, -1, 0.5, 1, 3],
  [1, 1, 1, 4, -2],
  [0.25, 5, 0, 2, -7],
  [9, 2, 2.5, 1, 0],
];

/** Natural logarithms of the softmax. */
const logSoftmax = (row: number[]) => {
  const sum = row.reduce((total, score) => total + Math.exp(score), 0);
  return row.map((score) => score - Math.log(sum));
};

async function told(request: GenerateOptions) {
  const settings = settingsOf({ max_new_tokens: 3, ...request }, { promptLength: 1 });
  const generation = generate({
    ...{ prompt: { tokens: [1] }, settings, tokenizer: numberTokenizer },
    signal: new AbortController().signal,
    start: async () => bigram(ROWS.flat(), VOCABULARY),
  });
  return (await answersOf(generation))[0]!;
}

test('log-probabilities are those of the raw scores, whatever changes the choice', async () => {
  const { logprobs } = await told({
    seed: 1,
    logprobs: 2,
    logit_bias: { 4: -100 },
    temperature: 0.1,
    do_sample: true,
  });
  const [first] = logprobs!.content;
  const expected = logSoftmax(ROWS[1]!);
  expect(first!.token).toBe('0 ');
  expect(first!.logprob).toBeCloseTo(expected[0]!, 5);
  expect(first!.bytes).toEqual([...Buffer.from('0 ')]);
  expect(first!.top_logprobs.map(({ token }) => token)).toEqual(['4 ', '0 ']);
  expect(first!.top_logprobs[0]!.logprob).toBeCloseTo(expected[4]!, 5);
});

test('the probabilities of all tokens make one', async () => {
  const { logprobs } = await told({ logprobs: 20 });
  expect(logprobs!.content).toHaveLength(3);
  for (const { top_logprobs } of logprobs!.content) {
    expect(top_logprobs).toHaveLength(VOCABULARY);
    expect(top_logprobs.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 5);
  }
});

test('0 tells the chosen tokens alone, and nothing is told unasked', async () => {
  const { logprobs } = await told({ logprobs: 0 });
  expect(logprobs!.content.map(({ top_logprobs }) => top_logprobs)).toEqual([[], [], []]);
  expect(await told({})).not.toHaveProperty('logprobs');
});

test('the token that ends the text is not told', async () => {
  const { logprobs } = await told({ logprobs: 0, eos_token_id: 4 });
  expect(logprobs!.content).toEqual([]);
});

test('beams have none', async () => {
  await expect(told({ logprobs: 1, num_beams: 2 })).rejects.toMatchObject({
    code: 'unprocessable',
    message: expect.stringContaining('params.logprobs'),
  });
});
