import ort from 'onnxruntime-node';
import {
  embedPrompt,
  type TokenEmbedder,
} from '../../../../../../runtime/engines/generation/decoding/embeddings/token-embedder.js';
import { positionsOf } from '../../../../../../runtime/engines/generation/decoding/prompt.js';

/** Embeds a token as itself, twice; a token beyond the table is an error, as in a graph. */
const embedder: TokenEmbedder = {
  async embed(rows) {
    if (rows.flat().some((token) => token >= 50)) throw new Error('index out of bounds');
    const values = Float32Array.from(rows.flat().flatMap((token) => [token, token]));
    return new ort.Tensor('float32', values, [rows.length, rows[0]!.length, 2]);
  },
};

const prompt = {
  tokens: [1, 99, 99, 99, 2],
  spans: [
    {
      ...{ start: 1, count: 3 },
      features: { type: 'float32', data: Float32Array.of(10, 11, 20, 21, 30, 31), dims: [3, 2] },
    },
  ],
  positions: { axes: [[0, 1, 1, 1, 2]], shift: -2 },
};

test.each([
  [0, 5, [1, 1, 10, 11, 20, 21, 30, 31, 2, 2]],
  [2, 2, [20, 21, 30, 31]],
  [3, 2, [30, 31, 2, 2]],
  [4, 1, [2, 2]],
])('features stand at their places in a part from %d on', async (from, count, values) => {
  const part = prompt.tokens.slice(from, from + count);
  const { data, dims } = await embedPrompt(embedder, prompt, { from, rows: [part] });
  expect([[...(data as Float32Array)], dims]).toEqual([values, [1, count, 2]]);
});

test('they stand in each of several rows', async () => {
  const rows = [
    [99, 2, 7],
    [99, 2, 8],
  ];
  const { data } = await embedPrompt(embedder, prompt, { from: 3, rows });
  expect([...(data as Float32Array)]).toEqual([30, 31, 2, 2, 7, 7, 30, 31, 2, 2, 8, 8]);
});

test('positions go on behind the prompt as far from their place as its end', () => {
  expect(positionsOf(prompt, { from: 3, count: 4, axes: 1 })).toEqual([[1, 2, 3, 4]]);
  expect(positionsOf({ tokens: [5] }, { from: 0, count: 2, axes: 3 })).toEqual([
    [0, 1],
    [0, 1],
    [0, 1],
  ]);
});
