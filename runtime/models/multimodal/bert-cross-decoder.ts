import { activation } from '../layers/activation.js';
import { headWidth } from '../layers/head-sizes.js';
import { embedding, linear, type LinearSize } from '../layers/linear.js';
import { layerNorm, skipLayerNorm } from '../layers/norm.js';
import type { DecoderState, Pair, SourceDecoder } from '../layers/cross-decoder.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { BERT_NAMES, type FillNames, vocabularyScores } from '../bases/encoder/bert-layer.js';
import { type BertConfig, bertSizes } from '../bases/encoder/bert-config.js';

/** BERT as a decoder: its layers attend to a source between their own attention and their feed-forward. */
export interface BertReader {
  /** What the names of its layers begin with. */
  base: string;
  names: FillNames;
  /** Row of the table of positions for the first token. */
  firstPlace: number;
  /** Of the states that it attends to; its own width if absent. */
  sourceWidth?: number;
}

export function bertReader(
  c: BertConfig,
  { base, names, firstPlace, sourceWidth }: BertReader,
): SourceDecoder {
  const sizes = bertSizes(c);
  const { width, heads } = sizes;
  return {
    ...{ width: sourceWidth ?? width, vocabulary: c.vocab_size, decoderLayers: c.num_hidden_layers },
    ...{ heads, headWidth: headWidth(width, heads) },
    projectSource: (g, layer, states) =>
      sourcePair(g, states, nameIn(base, layer), { from: sourceWidth ?? width, to: width }),
    decode: (g, ids, state) => bertReading(g, ids, c, { base, firstPlace, state }),
    scores: (g, x) => vocabularyScores(g, x, names, { ...sizes, embedded: width }),
  };
}

const nameIn = (base: string, layer: number) => (name: string) => `${base}.encoder.layer.${layer}.${name}`;

/** Keys and values of a source for a layer. */
export function sourcePair(
  g: GraphWriter,
  states: Value,
  at: (name: string) => string,
  size: LinearSize,
): Pair {
  const one = (name: string) => linear(g, states, at(`crossattention.self.${name}`), size);
  return { key: one('key'), value: one('value') };
}

/** What attends, and to what. */
export type Attending = Pick<DecoderState, 'positions' | 'attendSelf' | 'attendSource'>;

interface Reading extends Pick<BertReader, 'base' | 'firstPlace'> {
  state: Attending;
}

/** All layers over tokens: float32 [rows, tokens, width]. */
export function bertReading(g: GraphWriter, ids: Value, c: BertConfig, reading: Reading): Value {
  const { base, firstPlace, state } = reading;
  let x = embedded(g, ids, c, { base, positions: positionsFrom(g, state, firstPlace) });
  for (let i = 0; i < c.num_hidden_layers; i++) x = writeLayer(g, x, i, { c, state, at: nameIn(base, i) });
  return x;
}

const positionsFrom = (g: GraphWriter, { positions }: Attending, first: number): Value =>
  first === 0 ? positions : g.node('Add', [positions, g.ints([first], [])]);

/** Tokens, all of the first kind where there are kinds, at their positions. */
function embedded(
  g: GraphWriter,
  ids: Value,
  c: BertConfig,
  { base, positions }: { base: string; positions: Value },
): Value {
  const { width, epsilon } = bertSizes(c);
  const at = (name: string) => `${base}.embeddings.${name}`;
  const table = (of: Value, name: string, rows: number) => embedding(g, of, at(name), { rows, width });
  const tokens = table(ids, 'word_embeddings', c.vocab_size);
  const placed = table(positions, 'position_embeddings', c.max_position_embeddings);
  const sum = g.node('Add', [tokens, placed]);
  const kind = c.type_vocab_size > 0 && g.weights.has(at('token_type_embeddings.weight'));
  const all = kind
    ? g.node('Add', [sum, table(g.ints([0], []), 'token_type_embeddings', c.type_vocab_size)])
    : sum;
  return layerNorm(g, all, at('LayerNorm'), { width, epsilon });
}

interface LayerOf {
  c: BertConfig;
  state: Attending;
  at(name: string): string;
}

function writeLayer(g: GraphWriter, x: Value, layer: number, { c, state, at }: LayerOf): Value {
  const { width, inner, epsilon, act } = bertSizes(c);
  const square = { from: width, to: width };
  const norm = { width, epsilon };
  const project = (read: Value, name: string) => linear(g, read, at(name), square);
  const added = (skip: Value, found: Value, part: string) =>
    skipLayerNorm(g, [project(found, `${part}.output.dense`), skip], at(`${part}.output.LayerNorm`), norm);
  const projected = {
    query: project(x, BERT_NAMES.query),
    key: project(x, BERT_NAMES.key),
    value: project(x, BERT_NAMES.value),
  };
  const own = added(x, state.attendSelf(layer, projected), 'attention');
  const query = project(own, 'crossattention.self.query');
  const sourced = added(own, state.attendSource(layer, query), 'crossattention');
  const wide = activation(g, linear(g, sourced, at(BERT_NAMES.wide), { from: width, to: inner }), act);
  const narrow = linear(g, wide, at(BERT_NAMES.narrow), { from: inner, to: width });
  return skipLayerNorm(g, [narrow, sourced], at(BERT_NAMES.norm), norm);
}
