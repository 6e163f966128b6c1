import { elementType, type Graph, initializerShapes, isOwn, tensorShape } from '../../../../onnx/graph.js';
import type { ModelReaders } from '../../../../core/readers.js';
import { firstNumber, type Json, textConfig } from '../../../repository/model-folder.js';
import { contextLengthOf } from '../../../repository/sequence-lengths.js';
import { cacheShape } from '../../../repository/cache-shape.js';
import { isCrossAttention } from '../encoder-decoder/cross-cache.js';
import { IMAGES_INPUT } from '../prompt.js';
import { updatesCacheInPlace } from './decoder-graph.js';
import type { CacheLayout, CachePort, StatePort } from '../cache/kv-cache.js';

/**
 * True where the inputs decide which parts of the graph are computed. A merged graph consists of two such parts. Those of our own
 * only leave out experts that no token has chosen.
 */
export function hasBranches(graph: Graph): boolean {
  return !isOwn(graph) && graph.nodes.some(({ op }) => op === 'If');
}

/**
 * Longest text, in tokens, for which a graph with two sets of rotary positions uses the short one: in transformers a
 * text that grows beyond it is computed again from its beginning. Infinity where a graph has one set.
 */
export function ropeSwitchLength(graph: Graph, config: Json): number {
  const text = textConfig(config);
  const own = (text['rope_scaling'] ?? {}) as Json;
  const name = 'original_max_position_embeddings';
  return (hasBranches(graph) ? (firstNumber(text, name) ?? firstNumber(own, name)) : undefined) ?? Infinity;
}

/** True where the positions of all tokens depend on how long their text is: it has to be fed in one run. */
export function turnsByLength(config: Json): boolean {
  const rope = (textConfig(config)['rope_scaling'] ?? {}) as Json;
  return ['longrope', 'su'].includes(String(rope['rope_type'] ?? rope['type']));
}

/** Longest text, in tokens, that a graph of ours with positions that are `recomputed` goes on with as ropeSwitchLength says; Infinity where it always does. */
export function ownSwitchLength(graph: Graph, config: Json, kind: ModelReaders['rope']): number {
  const text = textConfig(config);
  if (!isOwn(graph) || !turnsByLength(config) || kind !== 'recomputed') return Infinity;
  const rope = text['rope_scaling'] as Json;
  const name = 'original_max_position_embeddings';
  return firstNumber(text, name) ?? firstNumber(rope, name) ?? Infinity;
}

/** Operators that look rotary positions up, and which of their inputs is the table. */
const TABLE_INPUTS = new Map([
  ['GroupQueryAttention', 7],
  ['RotaryEmbedding', 2],
]);

/**
 * Tokens after which the graph has no positions: rows of its shortest table [positions, width], or where a branch picks
 * one, what the model was made for. Infinity where positions are computed.
 */
export function maxPositionsOf(graph: Graph, config: Json): number {
  const shapes = initializerShapes(graph);
  const tables = graph.nodes.flatMap(({ op, inputs }) => inputs[TABLE_INPUTS.get(op) ?? Infinity] || []);
  const picked = hasBranches(graph) ? contextLengthOf(config) : undefined;
  const lengths = tables.map((name) => shapes.get(name)?.[0] ?? picked ?? Infinity);
  return Math.min(Infinity, ...new Set(lengths));
}

/** Inputs that a step can fill. Merged graphs (use_cache_branch) and other caches are not among them. */
const KNOWN_INPUTS =
  /^(input_ids|inputs_embeds|attention_mask|cross_attention_mask|position_ids|token_groups|num_logits_to_keep|logits_to_keep|past_key_values\..+)$/;

/** TensorProto.DataType */
const TYPES: Record<number, CacheLayout['type']> = { 1: 'float32', 10: 'float16' };

/**
 * Where a graph keeps its keys and values. Undefined for graphs whose steps need other inputs, whose attention takes
 * indices in the cache as positions, or which branch by the width of the mask, padding included.
 */
export function cacheLayoutOf(graph: Graph, config: Json): CacheLayout | undefined {
  const states = isOwn(graph) ? statePortsOf(graph) : [];
  const isKnown = (name: string) => KNOWN_INPUTS.test(name) || states.some(({ past }) => past === name);
  if (!graph.inputs.every(({ name }) => isKnown(name))) return undefined;
  if (hasBranches(graph)) return undefined;
  if (hasWindow(config) && !updatesCacheInPlace(graph) && !isOwn(graph)) return undefined;
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  const types = new Set(
    [...cachesOf(graph), ...statesOf(graph)].map((value) => TYPES[elementType(value) ?? 0]),
  );
  const [type] = types;
  if (!type || types.size > 1 || !outputs.has('logits')) return undefined;
  const all = cachePortsOf(graph, config);
  const looksAtImages = graph.inputs.some(({ name }) => name === IMAGES_INPUT);
  const source = looksAtImages ? all.filter(({ past }) => isCrossAttention(past)) : [];
  const ports = all.filter((port) => !source.includes(port));
  const isWhole = [...ports, ...states].every(({ present }) => outputs.has(present));
  const others = { ...(states.length > 0 && { states }), ...(looksAtImages && { source }) };
  return isWhole ? { ports, type, ...others } : undefined;
}

const cachesOf = ({ inputs }: Graph) => inputs.filter(({ name }) => name.startsWith('past_key_values.'));

/** Inputs for what convolutions and recurrent layers keep, [rows, …] of sizes that a graph of ours names. */
const statesOf = ({ inputs }: Graph) =>
  inputs.filter(({ name }) => /^past_(?!key_values\.)\w+\.\d+$/.test(name));

const statePortsOf = (graph: Graph): StatePort[] =>
  statesOf(graph).map((value) => ({
    ...{ past: value.name, present: value.name.replace('past', 'present') },
    dims: tensorShape(value).slice(1).map(Number),
  }));

/** All cache inputs. */
export function cachePortsOf(graph: Graph, config: Json): CachePort[] {
  return cachesOf(graph).map((value) => {
    const [heads, width] = cacheShape({ name: value.name, shape: tensorShape(value) }, config);
    return { past: value.name, present: value.name.replace('past_key_values', 'present'), heads, width };
  });
}

/** Sliding windows in plain graphs compare indices in the cache, which differ from positions in the text here. */
function hasWindow(config: Json): boolean {
  const text = textConfig(config);
  if (text['use_sliding_window'] === false) return false;
  const layers = text['layer_types'];
  if (Array.isArray(layers)) return layers.some((layer) => layer !== 'full_attention');
  return typeof text['sliding_window'] === 'number' || typeof text['attention_window_size'] === 'number';
}
