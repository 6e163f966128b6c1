import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ort from 'onnxruntime-node';
import { finishGraph } from '../../../../builder/export/finish/finish.js';
import { transpose } from '../../../../builder/export/finish/weights.js';
import { openSession } from '../../../../runtime/engines/sessions/session.js';
import { readGraphBytes } from '../../../../runtime/onnx/graph.js';
import { bytesOf, floatsOf, localFiles, readWeightIndex } from '../../../../runtime/weights/index.js';
import { folderWith } from '../../store/folders.js';
import { exportedGraph, safetensors } from './exported-graph.js';

const [ROWS, COLUMNS] = [40, 24];
const numbers = (count: number, seed: number) =>
  Float32Array.from({ length: count }, (_, i) => Math.fround(Math.sin(1 + i * 0.7 + seed)));

/** As torch has a linear layer: [outputs, inputs], and its exporter [inputs, outputs]. */
const linear = (type: string) => floatsOf(bytesOf(numbers(ROWS * COLUMNS, 1), type), type);
const bias = (type: string) => floatsOf(bytesOf(numbers(400, 2), type), type);

interface Made {
  checkpoint: string;
  graph: string;
}

/** A graph of `x · linear + own`, where `own` is no tensor of the checkpoint, and a table that two outputs read. */
function made(type: string, ownCount = ROWS): Made {
  const checkpoint = folderWith({
    'model.safetensors': safetensors({
      'layer.weight': { type, shape: [ROWS, COLUMNS], bytes: bytesOf(linear(type), type) },
      'table.weight': { type, shape: [400], bytes: bytesOf(bias(type), type) },
    }),
  });
  const { model, data } = exportedGraph({
    weights: {
      val_1: { dims: [COLUMNS, ROWS], values: transpose(linear(type), [ROWS, COLUMNS]) },
      'model.table': { dims: [400], values: bias(type) },
      own: { dims: [ownCount / ROWS, ROWS], values: numbers(ownCount, 9) },
    },
    nodes: [
      { op: 'MatMul', inputs: ['x', 'val_1'], outputs: ['product'] },
      { op: 'Add', inputs: ['product', 'own'], outputs: ['logits'] },
      { op: 'Gather', inputs: ['model.table', 'ids'], outputs: ['picked'] },
    ],
    inputs: { x: [1, ['s0', String(COLUMNS)]], ids: [7, ['s1']] },
    outputs: { logits: [1, ['s0', String(ROWS)]], picked: [1, ['s1']] },
  });
  const folder = folderWith({ 'model.onnx': model, 'model.onnx.data': data });
  return { checkpoint, graph: join(folder, 'model.onnx') };
}

async function finish({ checkpoint, graph }: Made, outputs = ['logits', 'picked', 'never']) {
  const index = await readWeightIndex(await localFiles(checkpoint));
  return finishGraph({ graph, outputs, index, checkpoint, restFile: 'rest.bin' });
}

async function run(bytes: Uint8Array, weightsIn: string) {
  const session = await openSession({ bytes, weightsIn }, { device: 'cpu', threads: 1 });
  const x = new ort.Tensor('float32', numbers(2 * COLUMNS, 5), [2, COLUMNS]);
  const ids = new ort.Tensor('int64', BigInt64Array.of(3n, 399n), [2]);
  const feeds = { x, ids };
  const given = await session.run(
    Object.fromEntries(session.inputNames.map((name) => [name, feeds[name as 'x']])),
  );
  await session.release();
  return given;
}

describe.each(['F32', 'BF16', 'F16'])('a graph over a checkpoint of %s', (type) => {
  test('reads it in place, transposed where it was, and computes the same', async () => {
    const one = made(type);
    const { bytes, rest, shares } = await finish(one);
    expect(shares).toEqual({ inPlace: 1600, transposed: 4 * ROWS * COLUMNS, copied: 4 * ROWS });
    expect(rest).toEqual([]);
    const { logits, picked } = await run(bytes, one.checkpoint);
    const [w, own, x] = [linear(type), numbers(ROWS, 9), numbers(2 * COLUMNS, 5)];
    const wanted = Array.from({ length: 2 * ROWS }, (_, at) => {
      const [row, column] = [Math.floor(at / ROWS), at % ROWS];
      return (
        own[column]! +
        w
          .slice(column * COLUMNS, (column + 1) * COLUMNS)
          .reduce((sum, value, i) => sum + value * x[row * COLUMNS + i]!, 0)
      );
    });
    (logits!.data as Float32Array).forEach((value, i) => expect(value).toBeCloseTo(wanted[i]!, 4));
    expect([...(picked!.data as Float32Array)]).toEqual([bias(type)[3], bias(type)[399]]);
  });
});

test('the same input gives the same bytes, without names, stack traces and paths', async () => {
  const [first, second] = [await finish(made('F32')), await finish(made('F32'))];
  expect(Buffer.compare(first.bytes, second.bytes)).toBe(0);
  const text = Buffer.from(first.bytes).toString('latin1');
  for (const trace of ['/home/', 'node_name', 'torch-says', 'a note', 'pkg.torch'])
    expect(text).not.toContain(trace);
});

test('an output that is not kept takes its nodes, its constants and its inputs along', async () => {
  const one = made('F32');
  const graph = readGraphBytes((await finish(one, ['logits'])).bytes);
  expect(graph.inputs.map(({ name }) => name)).toEqual(['x']);
  expect(graph.nodes.map(({ op }) => op)).toEqual(['FusedMatMul', 'Add']);
  expect(graph.initializers).toHaveLength(2);
});

test('sizes that are written as names become numbers', async () => {
  const { bytes, checkpoint } = await finish(made('F32')).then((found) => ({
    ...found,
    checkpoint: made('F32').checkpoint,
  }));
  const session = await openSession({ bytes, weightsIn: checkpoint }, { device: 'cpu', threads: 1 });
  expect(session.inputMetadata[0]).toMatchObject({ name: 'x', shape: ['s0', COLUMNS] });
  await session.release();
});

test('many weights of its own go to one file, aligned', async () => {
  const rows = 8000;
  const one = made('F32', rows * ROWS);
  const { bytes, rest, shares } = await finish(one);
  expect(shares.copied).toBe(4 * rows * ROWS);
  expect(rest).toEqual([
    { from: { file: 'model.onnx.data', offset: expect.any(Number), length: 4 * rows * ROWS }, offset: 0 },
  ]);
  expect(bytes.length).toBeLessThan(4000);
});

test('a weight that a node reads on its left, or inside of a branch, is not turned', async () => {
  const weights = { val_1: { dims: [COLUMNS, ROWS], values: transpose(linear('F32'), [ROWS, COLUMNS]) } };
  const { model, data } = exportedGraph({
    weights,
    nodes: [
      { op: 'MatMul', inputs: ['x', 'val_1'], outputs: ['logits'] },
      { op: 'Shape', inputs: ['val_1'], outputs: ['size'] },
    ],
    inputs: { x: [1, ['s0', String(COLUMNS)]] },
    outputs: { logits: [1, ['s0', String(ROWS)]], size: [7, ['2']] },
  });
  const folder = folderWith({ 'model.onnx': model });
  writeFileSync(join(folder, 'model.onnx.data'), data);
  const { shares } = await finish({ checkpoint: made('F32').checkpoint, graph: join(folder, 'model.onnx') }, [
    'logits',
    'size',
  ]);
  expect(shares).toEqual({ inPlace: 0, transposed: 0, copied: 4 * ROWS * COLUMNS });
});

test('caches that a step makes are kept, and those of a source that it reads are not', async () => {
  const [float, shape] = [1, ['rows', '4']];
  const names = ['self', 'cross'].map((side) => `cache.${side}_attention_cache.layers.0.keys`);
  const { model, data } = exportedGraph({
    weights: { factors: { dims: [4], values: numbers(4, 1) } },
    nodes: [
      ...names.map((name) => ({
        ...{ op: name.includes('self') ? 'Add' : 'Identity', outputs: [`output.${name}`] },
        inputs: name.includes('self') ? [`input.${name}`, 'factors'] : [`input.${name}`],
      })),
      { op: 'Add', inputs: ['factors', `input.${names[1]}`], outputs: ['logits'] },
    ],
    inputs: Object.fromEntries(names.map((name) => [`input.${name}`, [float, shape]])),
    outputs: Object.fromEntries(
      [...names.map((name) => `output.${name}`), 'logits'].map((name) => [name, [float, shape]]),
    ),
  });
  const graph = join(folderWith({ 'model.onnx': model, 'model.onnx.data': data }), 'model.onnx');
  const checkpoint = folderWith({
    'model.safetensors': safetensors({
      factors: { type: 'F32', shape: [4], bytes: bytesOf(numbers(4, 1), 'F32') },
    }),
  });
  const { bytes } = await finish({ checkpoint, graph }, ['logits']);
  const { inputs, outputs } = readGraphBytes(bytes);
  expect(inputs.map(({ name }) => name)).toEqual([
    'past_key_values.0.decoder.key',
    'past_key_values.0.encoder.key',
  ]);
  expect(outputs.map(({ name }) => name)).toEqual(['logits', 'present.0.decoder.key']);
});
