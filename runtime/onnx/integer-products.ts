import { type Graph, type GraphNode, withInnerNodes } from './graph.js';
import { intAttribute } from './make.js';
import { bytesReader, contentText, fieldsOf, varint } from './protobuf.js';

/** `accuracy_level` of MatMulNBits: activations may be rounded to int8, by blocks of each row. Absent or 0: not said. */
const NAME = 'accuracy_level';
const INT8 = 4;

/**
 * The graph with products over packed weights (MatMulNBits) multiplied as integers, where their export does not say how.
 * A row's product does not depend on the rows beside it.
 * @returns the same graph where there is no such product
 */
export function withIntegerProducts(graph: Graph): Graph {
  const nodes = graph.nodes.map(decided);
  return nodes.every((node, i) => node === graph.nodes[i]) ? graph : { ...graph, nodes };
}

const decided = (node: GraphNode): GraphNode =>
  isUndecided(node) ? asIntegers(node) : withInnerNodes(node, decided);

const isUndecided = (node: GraphNode): boolean =>
  node.op === 'MatMulNBits' && node.otherFields.every((field) => !levelOf(field));

function asIntegers(node: GraphNode): GraphNode {
  const others = node.otherFields.filter((field) => levelOf(field) === undefined);
  return { ...node, otherFields: [...others, intAttribute(NAME, INT8)] };
}

/** What a field of NodeProto says as the attribute; undefined for all other fields. */
function levelOf(bytes: Uint8Array): number | undefined {
  const reader = bytesReader(bytes);
  const [field] = fieldsOf(reader);
  if (field?.number !== 5) return undefined;
  const parts = [...fieldsOf(reader, field.start, field.end)];
  const name = parts.find(({ number }) => number === 1);
  if (!name || contentText(reader, name) !== NAME) return undefined;
  const value = parts.find(({ number }) => number === 3);
  return value ? varint(reader, value.start).value : 0;
}
