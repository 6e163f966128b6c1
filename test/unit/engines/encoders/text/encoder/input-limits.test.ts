import {
  positionsOf,
  strideExceedsRoom,
} from '../../../../../../runtime/engines/encoders/text/encoder/input-limits.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const table = { max_position_embeddings: 20 };

test.each<[config: Record<string, unknown>, positions: number]>([
  [{ model_type: 'bert' }, 20],
  [{ model_type: 'roberta', pad_token_id: 1 }, 18],
  [{ model_type: 'roberta', pad_token_id: 0 }, 19],
  [{ model_type: 'esm', pad_token_id: 1, position_embedding_type: 'absolute' }, 18],
  [{ model_type: 'mpnet', pad_token_id: 5 }, 18],
  [{ model_type: 'llama', rope_theta: null }, 20],
])('%j: the rows of the position table that tokens get', (config, positions) => {
  expect(positionsOf({ ...table, ...config })).toBe(positions);
});

test.each([
  { model_type: 't5' },
  { model_type: 'deberta-v2', position_biased_input: false },
  { model_type: 'llama', rope_theta: 10_000 },
  { model_type: 'modernbert', global_rope_theta: 160_000 },
  { model_type: 'gpt_neox', rotary_pct: 0.25 },
  { model_type: 'esm', position_embedding_type: 'rotary' },
])('%j: what memory bears, where positions go on for ever', (config) => {
  expect(positionsOf({ ...table, ...config, num_attention_heads: 8 })).toBe(8192);
  expect(positionsOf({ ...config, num_attention_heads: 8, max_position_embeddings: 32_768 })).toBe(32_768);
});

test.each<[stride: number, width: number, tooMuch: boolean]>([
  [8, 10, false],
  [9, 10, true],
  [0, 2, false],
  [1, 2, true],
  // As Python's tokenizers, which count below nothing there.
  [5, 1, false],
])('windows of which %i of %i tokens are shared between two special tokens', (stride, width, tooMuch) => {
  const tokenizer = { specialCount: () => 2 } as unknown as TextTokenizer;
  expect(strideExceedsRoom(tokenizer, stride, width)).toBe(tooMuch);
});
