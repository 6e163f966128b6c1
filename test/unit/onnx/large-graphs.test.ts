import { type Graph, readGraphBytes, writeGraph } from '../../../runtime/onnx/graph.js';

// Models with many experts have some 100,000 nodes, more than a call takes arguments.
test('a graph of more nodes than a call takes arguments is written', () => {
  const node = { op: 'Identity', inputs: ['a'], outputs: ['b'], otherFields: [] };
  const graph: Graph = {
    ...{
      nodes: Array.from({ length: 150_000 }, () => node),
      inputs: [],
      outputs: [],
      initializers: [],
    },
    ...{ otherFields: [], modelFields: [] },
  };
  expect(readGraphBytes(writeGraph(graph)).nodes).toHaveLength(150_000);
});
