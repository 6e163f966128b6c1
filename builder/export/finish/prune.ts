import type { Graph, GraphNode } from '../../../runtime/onnx/graph.js';
import { contentsIn, textsIn } from './fields.js';
import { readTensor } from './tensor.js';

/** The graph with these outputs only, in this order, and with what they need. Outputs that it lacks are left out. */
export function prune(graph: Graph, wanted: readonly string[]): Graph {
  const outputs = wanted.flatMap((name) => graph.outputs.find((one) => one.name === name) ?? []);
  const used = new Set(outputs.map(({ name }) => name));
  const nodes = graph.nodes
    .toReversed()
    .filter((node) => {
      if (!node.outputs.some((name) => used.has(name))) return false;
      for (const name of namesReadBy(node)) used.add(name);
      return true;
    })
    .toReversed();
  return {
    ...graph,
    ...{ nodes, outputs },
    inputs: graph.inputs.filter(({ name }) => used.has(name)),
    initializers: graph.initializers.filter((tensor) => used.has(readTensor(tensor).name)),
  };
}

/** Attributes of a node with graphs, and what of a graph is read: inputs of nodes, and outputs that come from outside. */
const [ATTRIBUTE, ONE_GRAPH, GRAPHS, NODE, OUTPUT, INPUT_NAME, VALUE_NAME] = [5, 6, 11, 1, 12, 1, 1];

/** What a node reads, graphs inside of it included. */
export function namesReadBy({ inputs, otherFields }: GraphNode): string[] {
  return [...inputs, ...innerNames(otherFields)];
}

/** Names that graphs inside of a node read. @param fields of the node, with their tags */
export function innerNames(fields: readonly Uint8Array[]): string[] {
  return fields.flatMap(namesInAttributesOf);
}

function namesInGraph(graph: Uint8Array): string[] {
  const nodes = contentsIn(graph, NODE);
  const outputs = contentsIn(graph, OUTPUT);
  return [
    ...nodes.flatMap((node) => [...textsIn(node, INPUT_NAME), ...namesInAttributesOf(node)]),
    ...outputs.flatMap((output) => textsIn(output, VALUE_NAME)),
  ];
}

function namesInAttributesOf(node: Uint8Array): string[] {
  return contentsIn(node, ATTRIBUTE).flatMap((attribute) =>
    contentsIn(attribute, ONE_GRAPH, GRAPHS).flatMap(namesInGraph),
  );
}
