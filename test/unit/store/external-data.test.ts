import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytesReader, withFileReader } from '../../../runtime/onnx/protobuf.js';
import { externalLocations } from '../../../runtime/store/external-data.js';
import { checkLargeGraphs, PLANNED_GRAPH_BYTES } from '../../../runtime/store/graph-check.js';
import { folderWith } from './folders.js';

/** A length-delimited protobuf field. */
function field(number: number, ...parts: (string | Uint8Array)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  return Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value >= 0x80; value = Math.floor(value / 128)) bytes.push((value % 128) + 0x80);
  return Buffer.from([...bytes, value]);
}

const entry = (key: string, value: string) => field(13, field(1, key), field(2, value));
const external = (name: string) =>
  Buffer.concat([entry('location', name), entry('offset', '0'), Buffer.from([0x70, 1])]);
const model = (...graph: Buffer[]) => Buffer.concat([Buffer.from([0x08, 9]), field(7, ...graph)]);
const read = (bytes: Uint8Array) => externalLocations(bytesReader(bytes));

test('initializers, node attributes, nested graphs and functions', () => {
  const nested = field(1, field(5, field(6, field(5, external('nested.bin')))));
  const constant = field(1, field(5, field(5, external('constant.bin'))));
  const inFunction = field(25, field(7, field(5, field(5, external('function.bin')))));
  const bytes = Buffer.concat([
    model(field(5, external('model.onnx_data')), field(5, external('./weights.pb')), nested, constant),
    inFunction,
  ]);
  expect(read(bytes)).toEqual([
    'constant.bin',
    'function.bin',
    'model.onnx_data',
    'nested.bin',
    'weights.pb',
  ]);
});

test('weights inside of the graph are skipped, whatever their bytes look like', () => {
  const raw = field(9, Buffer.alloc(200_000, external('trap.bin')));
  const bytes = model(field(5, raw), field(5, external('real.bin')), field(5, external('real.bin')));
  const path = join(folderWith({ 'model.onnx': bytes }), 'model.onnx');
  expect(withFileReader(path, externalLocations)).toEqual(['real.bin']);
});

test('a real export names none', () => {
  const path = 'test/fixtures/zoo/text-classification/distilbert/repo/onnx/model.onnx';
  expect(withFileReader(path, externalLocations)).toEqual([]);
  expect(read(readFileSync(path))).toEqual([]);
});

test.each(['../secret', '/etc/passwd', 'a/../../b', 'c:\\x', ''])('the location %j is refused', (name) => {
  expect(() => read(model(field(5, external(name))))).toThrow(/outside of its folder/);
});

test.each([
  ['text', Buffer.from('version https://git-lfs.github.com/spec/v1\n')],
  ['a length beyond the end', Buffer.concat([varint(58), varint(2 ** 50)])],
  ['an endless varint', Buffer.alloc(30, 0xff)],
  ['a cut file', model(field(5, external('weights.pb'))).subarray(0, 20)],
  ['nesting without end', nest(200)],
])('%s is a clear error', (_name, bytes) => {
  expect(() => read(bytes)).toThrow(/not an ONNX graph/);
});

function nest(depth: number): Buffer {
  let graph = field(5, external('x'));
  for (let i = 0; i < depth; i++) graph = field(1, field(5, field(6, graph)));
  return field(7, graph);
}

test('a graph too large for the planner is looked into before it is used', () => {
  const graph = model(field(5, external('odd.bin')), field(5, field(9, Buffer.alloc(PLANNED_GRAPH_BYTES))));
  const dir = folderWith({ 'onnx/model.onnx': graph });
  const files = [{ path: 'onnx/model.onnx', size: graph.length }];
  expect(() => checkLargeGraphs(dir, files)).toThrow(
    /onnx\/model\.onnx keeps weights in onnx\/odd\.bin.*--from/,
  );
  expect(() => checkLargeGraphs(dir, [...files, { path: 'onnx/odd.bin', size: 1 }])).not.toThrow();
});
