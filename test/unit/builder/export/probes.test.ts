import { join } from 'node:path';
import { differenceOf, type Probe, worstOf } from '../../../../runtime/engines/compare/difference.js';
import { readProbes } from '../../../../runtime/engines/compare/read-probes.js';
import { runProbes } from '../../../../runtime/engines/compare/run-probes.js';
import { folderWith } from '../../store/folders.js';
import { exportedGraph, safetensors } from './exported-graph.js';

/** As builder/export/make-export.ts has it. */
const TOLERANCE = 1e-4;

const bytes = (values: Float32Array | BigInt64Array) => new Uint8Array(values.buffer);
const floats = (dims: number[], ...data: number[]) => ({
  type: 'float32',
  dims,
  data: Float32Array.from(data),
});

/** Of `logits = x · 2`, with a second row whose last token is padding. */
function probesFile(out: readonly number[]): string {
  const dir = folderWith({
    'probes.safetensors': safetensors({
      '0/in/x': { type: 'F32', shape: [2, 2, 1], bytes: bytes(Float32Array.of(1, 2, 3, 4)) },
      '0/in/unused': { type: 'I64', shape: [1], bytes: bytes(BigInt64Array.of(1n)) },
      '0/out/logits': { type: 'F32', shape: [2, 2, 1], bytes: bytes(Float32Array.from(out)) },
      '0/real': { type: 'I64', shape: [2, 2], bytes: bytes(BigInt64Array.of(1n, 1n, 1n, 0n)) },
    }),
  });
  return join(dir, 'probes.safetensors');
}

async function check(factor: number, out: readonly number[], op = 'Mul') {
  const { model, data } = exportedGraph({
    weights: { factor: { dims: [1], values: Float32Array.of(factor) } },
    nodes: [{ op, inputs: ['x', 'factor'], outputs: ['logits'] }],
    inputs: { x: [1, ['rows', 'length', '1']] },
    outputs: { logits: [1, ['rows', 'length', '1']] },
  });
  const weightsIn = folderWith({ 'model.onnx.data': data });
  return runProbes({ bytes: model, weightsIn }, await readProbes(probesFile(out)));
}

describe('a graph beside what torch gave', () => {
  test('the same, but for padding', async () => {
    expect(await check(2, [2, 4, 6, 99])).toBe(0);
    expect(await check(2.00001, [2, 4, 6, 99])).toBeLessThan(TOLERANCE);
  });

  test('a planted wrong graph is found', async () => {
    expect(await check(2.001, [2, 4, 6, 8])).toBeGreaterThan(TOLERANCE);
    expect(await check(2, [2, 4, 6, 8], 'Add')).toBeGreaterThan(TOLERANCE);
  });

  test('a graph that can not be opened says so', async () => {
    expect(await check(2, [2, 4, 6, 8], 'NoSuchOperator')).toMatch(/^it can't be opened: /);
  });
});

describe('differences', () => {
  const real = { data: [1n, 1n, 1n, 0n], dims: [2, 2] };
  const probe = (output: Probe['outputs'][string], name = 'logits'): Probe => ({
    ...{ inputs: {}, outputs: { [name]: output }, real },
  });

  test('are parts of the largest number', () => {
    const given = { logits: floats([2, 1], 100, -50.5) };
    expect(differenceOf(probe(floats([2, 1], 100, -50)), 'logits', given)).toBeCloseTo(0.005);
  });

  test('of scores of places leave out padding, those of labels don’t', () => {
    const [wanted, given] = [floats([2, 2], 1, 2, 3, 4), floats([2, 2], 1, 2, 3, 0)];
    expect(differenceOf(probe(wanted, 'start_logits'), 'start_logits', { start_logits: given })).toBe(0);
    expect(differenceOf(probe(wanted), 'logits', { logits: given })).toBe(1);
  });

  test.each([
    [{}, 'logits is missing'],
    [{ logits: floats([1, 2], 1, 2) }, 'logits is [1, 2], not [2, 1]'],
    [{ logits: floats([2, 1], NaN, 2) }, 'logits is NaN where torch gives 1'],
  ])('that are no numbers: %j', (given, said) => {
    expect(differenceOf(probe(floats([2, 1], 1, 2)), 'logits', given)).toBe(said);
  });

  test('what is infinite has to be that', () => {
    const wanted = probe(floats([2, 1], -Infinity, 2));
    expect(differenceOf(wanted, 'logits', { logits: floats([2, 1], -Infinity, 2) })).toBe(0);
    expect(differenceOf(wanted, 'logits', { logits: floats([2, 1], -9, 2) })).toMatch('-9 where torch gives');
  });

  test('the smallest numbers of a type are no measure of the others', () => {
    const least = -3.4028234663852886e38;
    const wanted = probe(floats([2, 1], least, 2));
    expect(differenceOf(wanted, 'logits', { logits: floats([2, 1], least, 1) })).toBe(0.5);
    expect(differenceOf(wanted, 'logits', { logits: floats([2, 1], -9, 2) })).toMatch('-9 where torch gives');
    expect(differenceOf(wanted, 'logits', { logits: floats([2, 1], least, -Infinity) })).toMatch('-Infinity');
  });

  test('the worst is a problem before any number', () => {
    expect(worstOf([0.1, 0.3, 0])).toBe(0.3);
    expect(worstOf([0.1, 'missing', 9])).toBe('missing');
  });
});
