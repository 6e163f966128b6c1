import type { Graph, GraphNode } from '../../../runtime/onnx/graph.js';
import { intAttribute } from '../../../runtime/onnx/make.js';
import { writeField, writeNumber } from '../../../runtime/onnx/protobuf.js';
import { contentOf, numberOf, textsIn } from './fields.js';
import { innerNames } from './prune.js';

/** Products whose right side is read transposed. */

/** Of NodeProto: its domain, its attributes; of those and of operator sets: the name. */
const [DOMAIN, ATTRIBUTE, NAME] = [7, 5, 1];
const MICROSOFT = 'com.microsoft';

/** Constants that nothing but matrix products reads, as their right side, and which of those nodes can read it turned. */
export function productsOf(graph: Graph): Set<string> {
  const readers = new Map<string, boolean>();
  const note = (name: string, turns: boolean) => readers.set(name, (readers.get(name) ?? true) && turns);
  for (const node of graph.nodes) {
    node.inputs.forEach((name, i) => note(name, i === 1 && canTurn(node)));
    for (const name of innerNames(node.otherFields)) note(name, false);
  }
  for (const { name } of graph.outputs) note(name, false);
  return new Set([...readers].filter(([, turns]) => turns).map(([name]) => name));
}

function canTurn({ op, otherFields }: GraphNode): boolean {
  const domain = domainOf(otherFields);
  if (op === 'MatMul') return domain === '';
  return op === 'FusedMatMul' && domain === MICROSOFT && !attributeNames(otherFields).includes('transB');
}

/** The product with its right side transposed. */
export function turn(node: GraphNode): GraphNode {
  const others = node.otherFields.filter((bytes) => numberOf(bytes) !== DOMAIN);
  return {
    ...node,
    op: 'FusedMatMul',
    otherFields: [...others, intAttribute('transB', 1), writeField(DOMAIN, MICROSOFT)],
  };
}

const domainOf = (fields: readonly Uint8Array[]): string => {
  const field = fields.find((bytes) => numberOf(bytes) === DOMAIN);
  return field ? (textsIn(field, DOMAIN)[0] ?? '') : '';
};

/** Names of a node's attributes: the first field of each. */
const attributeNames = (fields: readonly Uint8Array[]): string[] =>
  fields.filter((bytes) => numberOf(bytes) === ATTRIBUTE).flatMap((bytes) => textsIn(contentOf(bytes), NAME));

const OPSETS = 8;

/** The model says which operators it reads beside the standard ones. */
export function withFusedProducts(modelFields: readonly Uint8Array[], needed: boolean): Uint8Array[] {
  const has = modelFields.some(
    (bytes) => numberOf(bytes) === OPSETS && textsIn(contentOf(bytes), NAME)[0] === MICROSOFT,
  );
  if (has || !needed) return [...modelFields];
  return [...modelFields, writeField(OPSETS, writeField(1, MICROSOFT), writeNumber(2, 1))];
}
