import { formatOf } from '../../../runtime/models/writer/packed-format.js';

const matrix = { name: 'layers.0.mlp.up_proj.weight', columns: 640, isTable: false, isMultiplied: true };

test('eight bits have one scale for 32 numbers, whatever a matrix is for', () => {
  for (const one of [matrix, { ...matrix, isTable: true }, { ...matrix, name: 'x.v_proj.weight' }])
    expect(formatOf(one, 8)).toEqual({ bits: 8, block: 32, zeros: false });
});

test('four bits have a zero point for each block', () => {
  expect(formatOf(matrix, 4)).toEqual({ bits: 4, block: 32, zeros: true });
});

test.each([
  'layers.0.self_attn.v_proj.weight',
  'layers.0.self_attn.o_proj.weight',
  'encoder.layer.3.attention.self.value.weight',
  'encoder.layer.3.attention.output.dense.weight',
  'decoder.block.1.layer.0.SelfAttention.v.weight',
  'h.2.attn.c_proj.weight',
])('%s has eight bits among four', (name) => {
  expect(formatOf({ ...matrix, name }, 4)).toEqual({ bits: 8, block: 128, zeros: false });
});

test.each([
  'encoder.layer.3.output.dense.weight',
  'h.2.mlp.c_proj.weight',
  'layers.0.self_attn.q_proj.weight',
])('%s has four bits', (name) => {
  expect(formatOf({ ...matrix, name }, 4).bits).toBe(4);
});

test('a table has eight bits where answers are scored with it, and four where it is only looked up', () => {
  const table = { ...matrix, name: 'embed_tokens.weight', isTable: true, columns: 96 };
  expect(formatOf(table, 4)).toEqual({ bits: 8, block: 32, zeros: false });
  expect(formatOf({ ...table, columns: 192 }, 4)).toMatchObject({ bits: 8, block: 64 });
  expect(formatOf({ ...table, isMultiplied: false }, 4)).toEqual({ bits: 4, block: 32, zeros: true });
});
