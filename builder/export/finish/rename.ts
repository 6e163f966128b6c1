import type { Graph } from '../../../runtime/onnx/graph.js';
import { cacheName } from '../../../runtime/onnx/exporter-names.js';
import { withInnerNodes } from '../../../runtime/onnx/graph.js';

/** The graph with the names of its cache that decoders are run by. */
export function renameCache(graph: Graph): Graph {
  const names = new Map([
    ...graph.inputs.map(({ name }) => [name, cacheName(name, 'input')] as const),
    ...graph.outputs.map(({ name }) => [name, cacheName(name, 'output')] as const),
  ]);
  const of = (name: string): string => names.get(name) ?? name;
  const rename = (node: Graph['nodes'][number]): Graph['nodes'][number] => ({
    ...node,
    inputs: node.inputs.map(of),
    outputs: node.outputs.map(of),
  });
  return {
    ...graph,
    nodes: graph.nodes.map((node) => withInnerNodes(rename(node), rename)),
    inputs: graph.inputs.map((value) => ({ ...value, name: of(value.name) })),
    outputs: graph.outputs.map((value) => ({ ...value, name: of(value.name) })),
  };
}
