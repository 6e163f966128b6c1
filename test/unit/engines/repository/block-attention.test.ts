import {
  checkFullAttention,
  fullAttentionLength,
} from '../../../../runtime/engines/repository/block-attention.js';

test.each([
  [{}, 'blocks', 704],
  [{ attention_type: 'block_sparse', block_size: 16, num_random_blocks: 2 }, 'blocks', 144],
  [{ attention_type: 'original_full', block_size: 16 }, 'blocks', Infinity],
  [{ block_size: 16 }, undefined, Infinity],
] as const)('%j, %s: %d tokens see all others', (config, kind, length) =>
  expect(fullAttentionLength(config, kind)).toBe(length),
);

test('a longer text is refused', () => {
  expect(() => checkFullAttention(704, 704)).not.toThrow();
  expect(() => checkFullAttention(705, 704)).toThrow('text: has 705 tokens; beyond 704');
});
