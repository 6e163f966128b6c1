import {
  chooseFormats,
  levelOf,
  type MatrixToPack,
  plainFormat,
} from '../../../runtime/models/writer/packed-format.js';

const matrix = (name: string, more: Partial<MatrixToPack> = {}): MatrixToPack => ({
  ...{ name, rows: 640, columns: 640, isTable: false, isMultiplied: true },
  ...more,
});

const layer = (i: number): MatrixToPack[] => [
  ...['q_proj', 'k_proj', 'v_proj', 'o_proj'].map((name) => matrix(`layers.${i}.self_attn.${name}.weight`)),
  ...['gate_proj', 'up_proj', 'down_proj'].map((name) =>
    matrix(`layers.${i}.mlp.${name}.weight`, { rows: 1920 }),
  ),
];

const table = matrix('embed_tokens.weight', { isTable: true, rows: 20_000 });
const network = [table, ...[0, 1, 2, 3].flatMap(layer)];

const EIGHT = { bits: 8, block: 128, zeros: false, narrow: true };

function chosen(level: 4 | 5 | 6 | 8, budget?: number) {
  const formats = chooseFormats(network, level, budget);
  return new Map(network.map(({ name }, i) => [name, formats[i]!]));
}

/** Of the matrices that are no tables, scales and zero points included. */
function bitsOf(formats: ReturnType<typeof chosen>): number {
  const others = network.filter(({ isTable }) => !isTable);
  const numbers = others.reduce((sum, { rows, columns }) => sum + rows * columns, 0);
  const bits = others.map(({ name, rows, columns }) => {
    const { bits: own, block, zeros } = formats.get(name)!;
    return rows * ((columns / block) * (own * block + 8 + (zeros ? own : 0)) + 16);
  });
  return bits.reduce((a, b) => a + b, 0) / numbers;
}

test('eight bits have one scale for 32 numbers, whatever a matrix is for', () => {
  for (const format of chosen(8).values())
    expect(format).toEqual({ bits: 8, block: 32, zeros: false, narrow: false });
});

test.each([
  [4, undefined, 4.9],
  [5, undefined, 5.7],
  [6, undefined, 6.6],
  [4, 4.6, 4.6],
] as const)('level %s (%s) takes the bits that it may, and no more', (level, budget, most) => {
  const bits = bitsOf(chosen(level, budget));
  expect(bits).toBeLessThanOrEqual(most);
  expect(bits).toBeGreaterThan(most - 0.15);
});

test('the least that a budget may be is enough for all, in the largest blocks', () => {
  const formats = chosen(4, 4.15);
  expect(formats.get('layers.1.mlp.up_proj.weight')).toMatchObject({ bits: 4, block: 128, zeros: true });
});

test('values of attention have eight bits first, queries and keys last', () => {
  const formats = chosen(6);
  for (const i of [0, 1, 2, 3]) {
    expect(formats.get(`layers.${i}.self_attn.v_proj.weight`)).toEqual(EIGHT);
    expect(formats.get(`layers.${i}.self_attn.q_proj.weight`)).toMatchObject({ bits: 4 });
  }
});

test('of alike matrices those of the last layers come first', () => {
  const formats = chosen(5);
  const bits = [0, 3].map((i) => formats.get(`layers.${i}.self_attn.o_proj.weight`)!.bits);
  expect(bits).toEqual([4, 8]);
});

test('blocks of 16 are for networks that have memory to spare', () => {
  const blocks = (rows: number) =>
    chooseFormats([...layer(0), matrix('layers.0.moe.weight', { rows })], 4).map(({ block }) => block);
  expect(Math.min(...blocks(640))).toBe(16);
  expect(Math.min(...blocks(1e6))).toBe(32);
});

test('a table has eight bits where answers are scored with it, and four where it is only looked up', () => {
  const formatOf = (one: MatrixToPack) => chooseFormats([one, ...layer(0)], 4)[0];
  expect(formatOf(table)).toEqual(EIGHT);
  expect(formatOf({ ...table, columns: 192 })).toMatchObject({ bits: 8, block: 64 });
  expect(formatOf({ ...table, columns: 96 })).toMatchObject({ bits: 8, block: 32 });
  expect(formatOf({ ...table, isMultiplied: false })).toMatchObject({ bits: 4, block: 64, zeros: true });
});

test('a small table beside a large one has eight bits', () => {
  const [large, small] = [1, 0.05].map((part) => ({ ...table, isMultiplied: false, rows: 20_000 * part }));
  const formats = chooseFormats([large!, small!, ...layer(0)], 4);
  expect(formats.slice(0, 2).map(({ bits }) => bits)).toEqual([4, 8]);
});

test('rows that are no whole blocks are filled up', () => {
  expect(chooseFormats([matrix('x.weight', { columns: 100 })], 4)[0]).toEqual(plainFormat(4));
});

test('the same matrices have the same formats', () => {
  expect(chooseFormats(network, 5)).toEqual(chooseFormats(network, 5));
});

test('a budget goes by the name that is next to it', () => {
  expect([4.5, 5, 5.7, 6.5, 8].map(levelOf)).toEqual([4, 4, 5, 6, 6]);
});
