import {
  positionsOf,
  strideExceedsRoom,
} from '../../../../../../runtime/engines/encoders/text/encoder/input-limits.js';
import type { PositionKind } from '../../../../../../runtime/core/readers.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const table = { max_position_embeddings: 20 };

test.each<[config: Record<string, unknown>, kind: PositionKind | undefined, positions: number]>([
  [{}, undefined, 20],
  [{}, 'learned', 20],
  [{ pad_token_id: 1 }, 'after-padding', 18],
  [{ pad_token_id: 0 }, 'after-padding', 19],
  [{ pad_token_id: 1, position_embedding_type: 'absolute' }, 'after-padding', 18],
  [{ pad_token_id: 5 }, 'after-two', 18],
  [{ rope_theta: null }, undefined, 20],
])('%j, %s: the rows of the position table that tokens get', (config, kind, positions) => {
  expect(positionsOf({ ...table, ...config }, kind)).toBe(positions);
});

test.each<[config: Record<string, unknown>, kind: PositionKind | undefined]>([
  [{}, 'distance'],
  [{ rope_theta: 10_000 }, undefined],
  [{ global_rope_theta: 160_000 }, undefined],
  [{ rotary_pct: 0.25 }, undefined],
  [{ position_embedding_type: 'rotary' }, 'after-padding'],
])('%j, %s: what memory bears, where positions go on for ever', (config, kind) => {
  expect(positionsOf({ ...table, ...config, num_attention_heads: 8 }, kind)).toBe(8192);
  expect(positionsOf({ ...config, num_attention_heads: 8, max_position_embeddings: 32_768 }, kind)).toBe(
    32_768,
  );
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
