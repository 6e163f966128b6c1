import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GraphInMemory } from '../../../../runtime/engines/sessions/graph-source.js';
import { inPlace } from '../../../../runtime/engines/sessions/in-place.js';
import { openSession } from '../../../../runtime/engines/sessions/session.js';
import { ELEMENTS, externalTensor, shapedType } from '../../../../runtime/models/writer/tensors.js';
import { writeGraph } from '../../../../runtime/onnx/graph.js';
import { writeField, writeNumber } from '../../../../runtime/onnx/protobuf.js';

const COUNT = 300_000;
const VALUES = Float32Array.from({ length: COUNT }, (_, i) => i % 1000);
const BYTES = Buffer.from(VALUES.buffer);

/** `raw_data` and `float_data` of TensorProto. */
const [RAW, FLOATS] = [9, 4];

const tensorWith = (field: number, bytes = BYTES) =>
  Buffer.concat([
    ...[writeNumber(1, bytes.length / 4), writeNumber(2, ELEMENTS.float32)],
    ...[writeField(8, 'w'), writeField(field, bytes)],
  ]);

/** Gives its weights. */
const graphOf = (...initializers: Uint8Array[]) =>
  writeGraph({
    nodes: [{ op: 'Identity', inputs: ['w'], outputs: ['y'], otherFields: [] }],
    ...{ inputs: [], outputs: [{ name: 'y', type: shapedType(ELEMENTS.float32, [COUNT]) }] },
    ...{ initializers, otherFields: [writeField(2, 'test')] },
    modelFields: [writeNumber(1, 9), writeField(8, writeField(1, ''), writeNumber(2, 20))],
  });

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'in-place-')));
});

function fileOf(bytes: Uint8Array): string {
  const path = join(folder, 'model.onnx');
  writeFileSync(path, bytes);
  return path;
}

async function givesWeights(path: string): Promise<boolean> {
  const session = await openSession(path, { device: 'cpu', threads: 1 });
  const { buffer } = (await session.run({}))['y']!.data as Float32Array;
  return BYTES.equals(Buffer.from(buffer));
}

test('weights stay in a large file, and answers are the same', async () => {
  const path = fileOf(graphOf(tensorWith(RAW)));
  const source = inPlace(path) as GraphInMemory;
  expect(source.weightsIn).toBe(folder);
  expect(source.bytes.length).toBeLessThan(1000);
  expect(await givesWeights(path)).toBe(true);
});

test('a link is followed to where the weights lie', async () => {
  const path = fileOf(graphOf(tensorWith(RAW)));
  const model = join(folder, 'model');
  mkdirSync(model);
  symlinkSync(path, join(model, 'linked.onnx'));
  expect((inPlace(join(model, 'linked.onnx')) as GraphInMemory).weightsIn).toBe(folder);
  expect(await givesWeights(join(model, 'linked.onnx'))).toBe(true);
});

test('graphs that hold weights in other fields, are small, or have some of them in other files are opened whole', () => {
  const elsewhere = externalTensor({
    ...{ name: 'v', element: ELEMENTS.float32, shape: [COUNT] },
    place: { file: 'model.onnx_data', offset: 0, length: BYTES.length },
  });
  for (const graph of [
    graphOf(tensorWith(FLOATS)),
    graphOf(tensorWith(RAW, BYTES.subarray(0, 400_000))),
    graphOf(tensorWith(RAW), elsewhere),
  ]) {
    const path = fileOf(graph);
    expect(inPlace(path)).toBe(path);
  }
});

test('what is no graph, or is not there, is left to ONNX Runtime’s own words', async () => {
  const path = fileOf(Buffer.alloc(2 ** 21, 0xff));
  expect(inPlace(path)).toBe(path);
  expect(inPlace(join(folder, 'missing.onnx'))).toBe(join(folder, 'missing.onnx'));
  await expect(openSession(path, { device: 'cpu', threads: 1 })).rejects.toThrow(/protobuf/i);
});
