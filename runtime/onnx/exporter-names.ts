import { type Graph, type GraphValue, tensorShape, withInnerNodes } from './graph.js';

/** As transformers' exporter calls keys and values: `cache.layers.3.keys`, with `input.` or `output.` where both sides have it. */
const CACHE = /^(?:(?:input|output)\.)?cache\.layers\.(\d+)\.(keys|values)$/;
/** Of an encoder-decoder: keys and values of the tokens, and of the source. */
const SIDES = /^(?:(?:input|output)\.)?cache\.(self|cross)_attention_cache\.layers\.(\d+)\.(keys|values)$/;
/** What convolutions and recurrent layers keep: `cache.layers.3.conv_states.0`. */
const STATE = /^(?:(?:input|output)\.)?cache\.layers\.(\d+)\.(conv|recurrent)_states\.(\d+)$/;
/** Keys by which a layer chooses the tokens that it looks at: `cache.layers.3.indexer_keys`, [rows, length, width]. */
const INDEX = /^(?:(?:input|output)\.)?cache\.layers\.(\d+)\.indexer_keys$/;

/**
 * The name that decoders are run by here, for a port of transformers' exporter: `past_key_values.3.key`, `present.3.key`,
 * `past_key_values.3.encoder.key`, `past_conv0.3`, `present_conv0.3`, `past_index.3`. All other names stay.
 * @param side of the graph that it is on
 */
export function cacheName(name: string, side: 'input' | 'output'): string {
  const isInput = side === 'input';
  const [, layer, kind] = CACHE.exec(name) ?? [];
  const cache = isInput ? 'past_key_values' : 'present';
  if (layer !== undefined) return `${cache}.${layer}.${ofKind(kind)}`;
  const [, of, depth, part] = SIDES.exec(name) ?? [];
  if (depth !== undefined)
    return `${cache}.${depth}.${of === 'self' ? 'decoder' : 'encoder'}.${ofKind(part)}`;
  const [, at, state, number] = STATE.exec(name) ?? [];
  const time = isInput ? 'past' : 'present';
  if (at !== undefined) return `${time}_${state}${number}.${at}`;
  const [, place] = INDEX.exec(name) ?? [];
  return place === undefined ? name : `${time}_index.${place}`;
}

const ofKind = (kind: string | undefined) => (kind === 'keys' ? 'key' : 'value');

/**
 * The graph with the names of its cache that decoders are run by; the same one where none is the exporter's.
 * @param others names of inputs -> new ones
 */
export function renameCache(graph: Graph, others: Readonly<Record<string, string>> = {}): Graph {
  const names = new Map([
    ...graph.inputs.map(({ name }) => [name, others[name] ?? cacheName(name, 'input')] as const),
    ...graph.outputs.map(({ name }) => [name, cacheName(name, 'output')] as const),
  ]);
  if ([...names].every(([from, to]) => from === to)) return graph;
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

/** A number that a cache of transformers keeps beside its tensors. */
const NUMBER = /^(?:(?:input|output)\.)?cache\.layers\.\d+\._\w+$/;

/** Without numbers that the graph hands through unread; the same graph where there are none. */
function withoutUnread(graph: Graph): Graph {
  const numbers = graph.inputs.filter((value) => NUMBER.test(value.name) && tensorShape(value).length === 0);
  const unread = numbers.flatMap(({ name }) => {
    const readers = graph.nodes.filter(({ inputs }) => inputs.includes(name));
    return readers.every(({ op, outputs }) => op === 'Identity' && NUMBER.test(outputs[0]!))
      ? [name, ...readers.map(({ outputs }) => outputs[0]!)]
      : [];
  });
  if (unread.length === 0) return graph;
  const stays = ({ name }: GraphValue) => !unread.includes(name);
  return {
    ...graph,
    nodes: graph.nodes.filter(({ outputs }) => !unread.includes(outputs[0]!)),
    inputs: graph.inputs.filter(stays),
    outputs: graph.outputs.filter(stays),
  };
}

/** A decoder's graph of transformers' exporter as decoders are run here; any other graph stays the same one. */
export const exportedDecoder = (graph: Graph): Graph => renameCache(withoutUnread(graph));
