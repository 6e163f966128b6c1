import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { RunError } from '../../../../runtime/core/errors.js';
import type { ModelSpec } from '../../../../runtime/core/spec.js';
import { graphSource, type GraphInMemory } from '../../../../runtime/engines/sessions/graph-source.js';
import { openSession } from '../../../../runtime/engines/sessions/session.js';
import { ELEMENTS, externalTensor, shapedType } from '../../../../runtime/models/writer/tensors.js';
import { type Graph, graphFields, writeGraph } from '../../../../runtime/onnx/graph.js';
import { writeField, writeNumber } from '../../../../runtime/onnx/protobuf.js';

const PATH = 'graphs/model.onnx';
const VALUES = [1, 2, 3, 4];

/** A model's folder with its weights, beside what is not the model's. */
function workbench(): string {
  const dir = join(mkdtempSync(join(tmpdir(), 'graph-source-')), 'model');
  mkdirSync(dir);
  const data = Buffer.from(Float32Array.from(VALUES).buffer);
  for (const name of ['weights.bin', 'secret.bin', '../outside.bin']) writeFileSync(join(dir, name), data);
  symlinkSync(join(dir, '../outside.bin'), join(dir, 'link.bin'));
  return dir;
}

const tensorIn = (file: string, name = 'w') =>
  externalTensor({
    name,
    element: ELEMENTS.float32,
    shape: [4],
    place: { file, offset: 0, length: 16 },
  });

/** Gives what lies in the file. */
function graphOver(file: string, change: Partial<Graph> = {}): Uint8Array {
  return writeGraph({
    nodes: [{ op: 'Identity', inputs: ['w'], outputs: ['y'], otherFields: [] }],
    ...{ inputs: [], outputs: [{ name: 'y', type: shapedType(ELEMENTS.float32, [4]) }] },
    ...{ initializers: [tensorIn(file)], otherFields: [writeField(2, 'test')] },
    modelFields: [writeNumber(1, 9), writeField(8, writeField(1, ''), writeNumber(2, 20))],
    ...change,
  });
}

function requestFor(bytes: Uint8Array, { dir = '/models', change = {} } = {}) {
  const written = {
    ...{ path: PATH, size: bytes.length, content: Buffer.from(bytes).toString('base64') },
    sha256: createHash('sha256').update(bytes).digest('hex'),
    ...change,
  };
  const files = ['weights.bin', 'link.bin'].map((path) => ({ path, size: 16 }));
  return { dir, spec: { graphs: { model: PATH }, files, written: [written] } as unknown as ModelSpec };
}

test('a graph of the repository is opened from its path', () => {
  const { spec } = requestFor(graphOver('weights.bin'));
  const { written: _, ...rest } = spec;
  expect(graphSource({ dir: '/models', spec: rest }, 'model')).toBe(join('/models', PATH));
});

test('weights that are links out of the folder, as in the cache of huggingface_hub, are read where they lie', async () => {
  const dir = workbench();
  const bytes = graphOver('link.bin', {
    nodes: [
      { op: 'Identity', inputs: ['w'], outputs: ['x'], otherFields: [] },
      { op: 'Add', inputs: ['x', 'v'], outputs: ['y'], otherFields: [] },
    ],
    initializers: [tensorIn('link.bin'), tensorIn('weights.bin', 'v')],
  });
  const source = graphSource(requestFor(bytes, { dir }), 'model') as GraphInMemory;
  expect(source.weightsIn).toBe(dirname(realpathSync(dir)));
  const session = await openSession(source, { device: 'cpu', threads: 1 });
  const { y } = await session.run({});
  expect([...(y!.data as Float32Array)]).toEqual(VALUES.map((value) => 2 * value));
  await session.release();
});

test('a written graph is opened from memory, over the weights of the model', async () => {
  const dir = workbench();
  const bytes = graphOver('weights.bin');
  const source = graphSource(requestFor(bytes, { dir }), 'model') as GraphInMemory;
  expect({ ...source, bytes: [...source.bytes] }).toEqual({ bytes: [...bytes], weightsIn: dir });
  const session = await openSession(source, { device: 'cpu', threads: 1 });
  expect([...((await session.run({}))['y']!.data as Float32Array)]).toEqual(VALUES);
  await session.release();
});

test.each([
  ['another sha256', { sha256: 'a'.repeat(64) }],
  ['content that is no base64', { content: 'n\u00f6' }],
  [
    'content that was cut off',
    { content: Buffer.from(graphOver('weights.bin')).toString('base64').slice(4) },
  ],
])('a written graph with %s is refused', (_name, change) => {
  expect(() => graphSource(requestFor(graphOver('weights.bin'), { change }), 'model')).toThrow(
    new RunError('not_ready', `model.json: the graph ${PATH} is not the one of its sha256`),
  );
});

test('bytes that are no graph are refused', () => {
  const request = requestFor(Buffer.from('not a graph'));
  expect(() => graphSource(request, 'model')).toThrow(`model.json: the graph ${PATH} is none`);
  expect(() => graphSource(request, 'model')).toThrow(RunError);
});

test.each([
  ['../outside.bin'],
  ['/etc/hostname'],
  ['a/../../outside.bin'],
  ['secret.bin'],
  // ONNX Runtime's name for an address in memory.
  ['*/_ORT_MEM_ADDR_/*'],
])('weights in %s are refused before a graph is opened', (file) => {
  const message = `the graph ${PATH} reads ${JSON.stringify(file)}, which is no file of the model`;
  const constant = {
    ...{ op: 'Constant', inputs: [], outputs: ['c'] },
    otherFields: [writeField(5, writeField(1, 'value'), writeField(5, tensorIn(file)), writeNumber(20, 4))],
  };
  const inner = { nodes: [constant], inputs: [], outputs: [], initializers: [], otherFields: [] };
  const nested = {
    op: 'If',
    inputs: ['w'],
    outputs: ['y'],
    otherFields: [
      writeField(
        5,
        writeField(1, 'then_branch'),
        writeField(6, Buffer.concat(graphFields(inner))),
        writeNumber(20, 5),
      ),
    ],
  };
  const graphs = [
    graphOver(file),
    graphOver('weights.bin', { nodes: [constant] }),
    graphOver('weights.bin', { nodes: [nested] }),
    // A name that a second one overrides.
    graphOver('weights.bin', {
      initializers: [Buffer.concat([tensorIn('weights.bin'), tensorIn(file)])],
    }),
  ];
  for (const bytes of graphs) {
    expect(() => graphSource(requestFor(bytes), 'model')).toThrow(RunError);
    expect(() => graphSource(requestFor(bytes), 'model')).toThrow(message);
  }
});

test('ONNX Runtime itself follows no name that leads out of the folder', async () => {
  const weightsIn = workbench();
  const open = (file: string) =>
    openSession({ bytes: graphOver(file), weightsIn }, { device: 'cpu', threads: 1 });
  for (const file of ['../outside.bin', join(weightsIn, '../outside.bin'), 'link.bin', '*/_ORT_MEM_ADDR_/*'])
    await expect(open(file)).rejects.toThrow();
  // Within the folder it reads whatever is there.
  await (await open('secret.bin')).release();
});
