import { elementType, type Graph, type GraphNode } from '../../../../onnx/graph.js';
import type { CachePort } from '../cache/kv-cache.js';
import { int64Tensor, intAttribute, typeOfElements } from '../../../../onnx/make.js';

/**
 * Changes to a decoder's graph that save copies. They change no number; a graph that can't be changed safely stays as it is.
 */

/** Where GroupQueryAttention puts new keys and values: int64 [rows, 1, tokens, 1]. An input that we add. */
export const SLOTS_INPUT = 'slipway.slots';

const INT64 = 7;
const PREFIX = 'slipway';
const TO_THE_END = 2 ** 53;

/** True where the attention itself writes into the cache, at a position that depends on the row. */
export function updatesCacheInPlace(graph: Graph): boolean {
  return graph.nodes.some(({ op }) => op === 'GroupQueryAttention');
}

/**
 * Makes cache outputs hold the new tokens only. The original ones hold all tokens: copying them out of the graph costs
 * more than a step computes, once a text is long.
 * @returns the graph; its cache outputs keep their names, with the shape [rows, heads, new tokens, width]
 */
export function withNewTokensOnly(graph: Graph, ports: readonly CachePort[]): Graph {
  const slots = updatesCacheInPlace(graph);
  const nodes = ports.flatMap((port) => (slots ? pickSlots(port) : cutPast(port)));
  const renamed = new Map(ports.map(({ present }) => [present, inner(present)]));
  return {
    ...graph,
    nodes: [...graph.nodes.map((node) => renameOutputs(node, renamed)), ...nodes],
    inputs: slots ? [...graph.inputs, { name: SLOTS_INPUT, type: typeOfElements(INT64) }] : graph.inputs,
    outputs: graph.outputs.map((value) =>
      renamed.has(value.name) ? { ...value, type: typeOfElements(elementType(value)!) } : value,
    ),
    initializers: [
      ...graph.initializers,
      ...(slots
        ? ports.map(({ present, heads, width }) =>
            int64Tensor(`${inner(present)}.shape`, [1, heads, 1, width]),
          )
        : [
            int64Tensor(`${PREFIX}.axis0`, [0]),
            int64Tensor(`${PREFIX}.axis2`, [2]),
            int64Tensor(`${PREFIX}.axis3`, [3]),
            int64Tensor(`${PREFIX}.end`, [TO_THE_END]),
          ]),
    ],
  };
}

const inner = (name: string): string => `${PREFIX}.${name}`;

/** What the attention calls its outputs must not clash with the outputs of the graph. Inputs that read them follow. */
function renameOutputs(node: GraphNode, names: ReadonlyMap<string, string>): GraphNode {
  const rename = (name: string) => names.get(name) ?? name;
  return { ...node, inputs: node.inputs.map(rename), outputs: node.outputs.map(rename) };
}

/** present[:, :, past length:] */
function cutPast({ past, present }: CachePort): GraphNode[] {
  const [shape, length] = [`${inner(present)}.pastShape`, `${inner(present)}.pastLength`];
  return [
    node('Shape', [past], shape),
    node('Slice', [shape, `${PREFIX}.axis2`, `${PREFIX}.axis3`, `${PREFIX}.axis0`], length),
    node('Slice', [inner(present), length, `${PREFIX}.end`, `${PREFIX}.axis2`], present),
  ];
}

/** present at the slots that the new tokens went to. */
function pickSlots({ present }: CachePort): GraphNode[] {
  const slots = `${inner(present)}.slots`;
  return [
    node('Expand', [SLOTS_INPUT, `${inner(present)}.shape`], slots),
    node('GatherElements', [inner(present), slots], present, [intAttribute('axis', 2)]),
  ];
}

function node(op: string, inputs: string[], output: string, attributes: Uint8Array[] = []): GraphNode {
  return { op, inputs, outputs: [output], otherFields: attributes };
}
