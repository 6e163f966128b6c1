import { createBudget } from '../../../runtime/models/writer/budget.js';
import { GraphError } from '../../../runtime/models/writer/errors.js';
import { createGraphWriter, type GraphInProgress } from '../../../runtime/models/writer/graph-writer.js';
import { inPlace, packedStorage } from '../../../runtime/models/writer/storage.js';
import { createWeights } from '../../../runtime/models/writer/weights.js';
import { initializerShapes, isOwn, opsetOf, readGraphBytes } from '../../../runtime/onnx/graph.js';
import type { StoredTensor } from '../../../runtime/weights/index.js';

const tensor = (type: string, shape: readonly number[]): StoredTensor => ({
  ...{ file: 'model.safetensors', offset: 0, length: 0, type, shape },
});

const weights = createWeights(
  new Map([
    ['full', tensor('F32', [2])],
    ['half', tensor('F16', [2])],
    ['matrix', tensor('F32', [32, 64])],
    ['half table', tensor('BF16', [32, 64])],
  ]),
);
const writer = (storage = inPlace): GraphInProgress => createGraphWriter(weights, storage);

test('a weight is cast once where it is not stored in float32, and written once', () => {
  const g = writer();
  expect(g.weight('full', [2])).toBe('full');
  const cast = g.weight('half', [2]);
  expect(cast).not.toBe('half');
  expect([g.weight('half', [2]), g.weight('full', [2])]).toEqual([cast, 'full']);
  const graph = readGraphBytes(g.finish());
  expect(graph.nodes).toMatchObject([{ op: 'Cast', inputs: ['half'], outputs: [cast] }]);
  expect([...initializerShapes(graph)]).toEqual([
    ['full', [2]],
    ['half', [2]],
  ]);
});

test('of a table in 16 bits only the rows that are read become float32', () => {
  const g = writer();
  const ids = g.input('ids', 'int64', ['tokens']);
  const [rows, floats] = [g.rows('half table', [32, 64], ids), g.rows('matrix', [32, 64], ids)];
  const { nodes, ...graph } = readGraphBytes(g.finish());
  expect(nodes).toMatchObject([
    { op: 'Gather', inputs: ['half table', ids] },
    { op: 'Cast', outputs: [rows] },
    { op: 'Gather', inputs: ['matrix', ids], outputs: [floats] },
  ]);
  expect(initializerShapes({ nodes, ...graph }).size).toBe(2);
});

test('equal constants are one; the same numbers of another shape or type are another', () => {
  const g = writer();
  const one = g.ints([1, 2]);
  expect(g.ints([1, 2])).toBe(one);
  const others = [g.ints([1], []), g.ints([1]), g.floats([1]), g.scalar(1), g.ints([1, 2], [2, 1])];
  expect(new Set([one, ...others]).size).toBe(6);
  expect(initializerShapes(readGraphBytes(g.finish())).size).toBe(6);
});

test('what is computed only sometimes is a branch; weights and shared parts in it are the graph’s own', () => {
  const g = writer();
  const [condition, x] = [g.input('condition', 'bool', []), g.input('x', 'float32', ['rows', 2])];
  const shared = () => g.once('shared', () => g.node('Abs', [g.weight('full', [2])]));
  const found = g.either(condition, ['rows', 2], {
    yes: () => g.node('Mul', [g.node('Add', [x, g.weight('half', [2])]), shared()]),
    no: () => g.node('Identity', [x]),
  });
  g.output('found', g.node('Add', [found, shared()]), 'float32', ['rows', 2]);
  const graph = readGraphBytes(g.finish());
  expect(graph.nodes.map(({ op }) => op)).toEqual(['Cast', 'Abs', 'If', 'Add', 'Identity']);
  expect([...initializerShapes(graph).keys()]).toEqual(['half', 'full']);
});

test('shared parts are made once', () => {
  const g = writer();
  let made = 0;
  const make = () => ++made;
  expect([g.once('a', make), g.once('a', make), g.once('b', make)]).toEqual([1, 1, 2]);
  let empty = 0;
  const none = () => void empty++;
  g.once('none', none);
  g.once('none', none);
  expect(empty).toBe(1);
});

test('a packed matrix is written once for each use, and read as it is where it does not fit', () => {
  const g = writer(packedStorage('packed.bin', 4));
  const use = { kind: 'matrix', isTable: false, transposed: false } as const;
  const first = g.packed('matrix', [32, 64], use)!;
  expect(g.packed('matrix', [32, 64], use)).toEqual(first);
  const graph = readGraphBytes(g.finish());
  const shapes = initializerShapes(graph);
  expect([first.data, first.zeros!].map((name) => shapes.get(name))).toEqual([
    [32, 2, 16],
    [32, 1],
  ]);
  // Scales of blocks and of rows as floats, and their product.
  expect(graph.nodes.map(({ op }) => op)).toEqual(['Cast', 'Cast', 'Mul']);
  const [ofBlocks, ofRows, product] = graph.nodes;
  expect([ofBlocks, ofRows].map((one) => shapes.get(one!.inputs[0]!))).toEqual([
    [32, 2],
    [32, 1],
  ]);
  expect(product).toMatchObject({
    inputs: [ofBlocks, ofRows].map((one) => one!.outputs[0]),
    outputs: [first.scales],
  });
  expect(shapes.size).toBe(4);
  expect(writer().packed('matrix', [32, 64], use)).toBeUndefined();
});

test('the model says which operators it is written in, and whose it is', () => {
  const graph = readGraphBytes(writer().finish());
  expect([opsetOf(graph), isOwn(graph)]).toEqual([20, true]);
});

test.each<[string, (g: GraphInProgress) => unknown, string]>([
  ['a fraction', (g) => g.ints([0, 32 / 3]), 'leads to a size of 10.66'],
  ['no number', (g) => g.ints([NaN]), 'leads to a size of NaN, which is no integer'],
  ['what JavaScript does not hold exactly', (g) => g.ints([2 ** 54]), 'which is no integer'],
  ['a negative axis', (g) => g.floats([1], [-1]), 'which is negative'],
  ['a fraction among axes of an input', (g) => g.input('x', 'float32', ['n', 2.5]), 'a size of 2.5'],
  ['an endless axis', (g) => g.output('x', 'y', 'int64', [Infinity]), 'a size of Infinity'],
  ['an endless constant', (g) => g.scalar(1e39), '1e+39, which is no number in float32'],
  ['a constant that is none', (g) => g.floats([0, NaN]), 'NaN, which is no number'],
  ['a fraction as an attribute', (g) => g.node('Conv', [], { group: 0.5 }), 'a size of 0.5'],
  ['a fraction in a list', (g) => g.node('Conv', [], { pads: [1, 1.5] }), 'a size of 1.5'],
  ['a scale that is none', (g) => g.node('Elu', [], { alpha: { float: Infinity } }), 'Infinity, which'],
])('%s is refused', (_name, write, message) => {
  expect(() => write(writer())).toThrow(GraphError);
  expect(() => write(writer())).toThrow(`config.json leads to`);
  expect(() => write(writer())).toThrow(message);
});

test('the end of an axis may be named by 2^53', () => {
  expect(() => writer().ints([2 ** 53])).not.toThrow();
});

test('a graph of too many nodes or bytes is refused while it is written', () => {
  const g = writer();
  expect(() => {
    for (;;) g.node('Relu', ['x']);
  }).toThrow(new GraphError('config.json makes a graph of more than 131072 nodes'));
  const budget = createBudget(2, 10);
  budget.bytes(10);
  expect(() => budget.bytes(1)).toThrow(new GraphError('config.json makes a graph of more than 10 bytes'));
  const small = createGraphWriter(weights, inPlace, createBudget(100, 1000));
  small.floats(new Float32Array(200));
  expect(() => small.floats(new Float32Array(100))).toThrow('a graph of more than 1000 bytes');
  expect(() => small.weight('full', [2])).toThrow('a graph of more than 1000 bytes');
});
