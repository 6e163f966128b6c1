import type { Architecture } from '../architecture.js';
import { GraphError } from '../errors.js';
import type { GraphWriter, Value } from '../graph-writer.js';
import { MICROSOFT } from '../graph-writer.js';
import { float } from '../attributes.js';
import { textInputs } from './text-inputs.js';
import type { TextInputs } from './text-inputs.js';

/** float32 [rows, tokens, heads · width] each. */
export interface Pair {
  key: Value;
  value: Value;
}

export interface Triple extends Pair {
  query: Value;
}

/** What a decoder's layers read beside the states of their tokens. */
export interface DecoderState {
  /** int64 scalar: tokens before the fed ones; and how many are fed. */
  pastTokens: Value;
  tokens: Value;
  /**
   * Attention of the fed tokens to those before them and to each other: float32 [rows, tokens, heads · width].
   * @param bias added to scores, float32 [1, heads, tokens, all tokens]
   */
  attendSelf(layer: number, projected: Triple, bias?: Value): Value;
  /** Attention to the source. */
  attendSource(layer: number, query: Value): Value;
}

/** A model whose decoder attends to the states of an encoder, as its architecture has it. */
export interface Seq2Seq {
  /** Of the states. */
  width: number;
  /** True where the decoder reads vectors of tokens in place of ids. */
  embedded?: boolean;
  vocabulary: number;
  decoderLayers: number;
  /** Of the decoder. */
  heads: number;
  headWidth: number;
  /** What scores are multiplied with; 1 / sqrt(headWidth) if absent. */
  scale?: number;
  encode(g: GraphWriter, inputs: TextInputs): Value;
  /** Keys and values of the source for a layer of the decoder, of states [rows, length, width]. */
  projectSource(g: GraphWriter, layer: number, states: Value): Pair;
  /** int64 [rows, tokens], or vectors -> float32 [rows, tokens, width], all layers and what comes after the last one. */
  decode(g: GraphWriter, ids: Value, state: DecoderState): Value;
  /** float32 [rows, 1, vocabulary] of states [rows, 1, width]. */
  scores(g: GraphWriter, x: Value): Value;
}

/** The graphs of an encoder-decoder: `encoder_model`, and one decoder for the first run and all others. */
export function seq2seqRoles<C>(modelOf: (config: C) => Seq2Seq) {
  return {
    encoder_model: (g: GraphWriter, config: C) => {
      const model = modelOf(config);
      const states = model.encode(g, textInputs(g));
      g.output('last_hidden_state', states, 'float32', ['rows', 'tokens', model.width]);
    },
    decoder_model_merged: (g: GraphWriter, config: C) => writeCachedDecoder(g, modelOf(config)),
  };
}

export function seq2seqHeads<C>(modelOf: (config: C) => Seq2Seq): Architecture<C>['heads'] {
  return { 'seq2seq-lm': seq2seqRoles(modelOf) };
}

/**
 * The decoder with its caches. Keys and values of the source are computed where there are none yet, which is in the first
 * run; `logits` are those of the last token.
 * @throws GraphError for a decoder without layers
 */
export function writeCachedDecoder(g: GraphWriter, model: Omit<Seq2Seq, 'encode'>): void {
  const { width, vocabulary } = model;
  if (model.decoderLayers < 1) throw new GraphError('config.json: the decoder has no layers');
  const ids = model.embedded
    ? g.input('inputs_embeds', 'float32', ['rows', 'tokens', width])
    : g.input('input_ids', 'int64', ['rows', 'tokens']);
  const states = g.input('encoder_hidden_states', 'float32', ['rows', 'length', width]);
  const caches = Array.from({ length: model.decoderLayers }, (_, layer) => cacheInputs(g, layer, model));
  const source = sourceCaches(g, model, { states, caches });
  const state = cachedState(g, model, { ids, caches, source });
  const last = g.node('Slice', [model.decode(g, ids, state), g.ints([-1]), g.ints([2 ** 53]), g.ints([1])]);
  g.output('logits', model.scores(g, last), 'float32', ['rows', 1, vocabulary]);
}

/** Caches of a layer: float32 [rows, heads, tokens, width] each. */
interface Caches {
  own: Pair;
  source: Pair;
}

type Sizes = Pick<Seq2Seq, 'heads' | 'headWidth' | 'decoderLayers' | 'scale'>;

function cacheInputs(g: GraphWriter, layer: number, { heads, headWidth }: Sizes): Caches {
  const pair = (kind: string, length: string): Pair => {
    const one = (name: string) =>
      g.input(`past_key_values.${layer}.${kind}.${name}`, 'float32', ['rows', heads, length, headWidth]);
    return { key: one('key'), value: one('value') };
  };
  return { own: pair('decoder', 'past'), source: pair('encoder', 'past_length') };
}

function cacheOutputs(g: GraphWriter, name: string, { key, value }: Pair, { heads, headWidth }: Sizes): void {
  const shape = ['rows', heads, `${name} tokens`, headWidth];
  g.output(`present.${name}.key`, key, 'float32', shape);
  g.output(`present.${name}.value`, value, 'float32', shape);
}

interface SourceRequest {
  states: Value;
  caches: readonly Caches[];
}

function sourceCaches(
  g: GraphWriter,
  model: Omit<Seq2Seq, 'encode'>,
  { states, caches }: SourceRequest,
): Pair[] {
  const length = g.node('Shape', [caches[0]!.source.key], { start: 2, end: 3 });
  const isFirst = g.node('Squeeze', [g.node('Equal', [length, g.ints([0])])]);
  const found = g.either(
    isFirst,
    () =>
      caches.flatMap((_, layer) => {
        const { key, value } = model.projectSource(g, layer, states);
        return [byHead(g, key, model), byHead(g, value, model)];
      }),
    () => caches.flatMap(({ source }) => [source.key, source.value]),
  );
  return caches.map((_, layer) => {
    const pair = { key: found[2 * layer]!, value: found[2 * layer + 1]! };
    cacheOutputs(g, `${layer}.encoder`, pair, model);
    return pair;
  });
}

/** float32 [rows, tokens, heads · width] -> [rows, heads, tokens, width] */
function byHead(g: GraphWriter, x: Value, { heads, headWidth }: Sizes): Value {
  const split = g.node('Reshape', [x, g.ints([0, 0, heads, headWidth])]);
  return g.node('Transpose', [split], { perm: [0, 2, 1, 3] });
}

interface StateRequest {
  ids: Value;
  caches: readonly Caches[];
  source: readonly Pair[];
}

function cachedState(g: GraphWriter, sizes: Sizes, { ids, caches, source }: StateRequest): DecoderState {
  const { heads, scale } = sizes;
  const attributes = { num_heads: heads, scale: scale === undefined ? undefined : float(scale) };
  const count = (x: Value, axis: number) =>
    g.node('Squeeze', [g.node('Shape', [x], { start: axis, end: axis + 1 })]);
  return {
    pastTokens: count(caches[0]!.own.key, 2),
    tokens: count(ids, 1),
    attendSelf(layer, { query, key, value }, bias = '') {
      const past = caches[layer]!.own;
      const inputs = [query, key, value, '', '', bias, past.key, past.value];
      const [attended, keys, values] = g.nodes('MultiHeadAttention', inputs, {
        ...{ outputs: 3, attributes: { ...attributes, unidirectional: 1 }, domain: MICROSOFT },
      }) as [Value, Value, Value];
      cacheOutputs(g, `${layer}.decoder`, { key: keys, value: values }, sizes);
      return attended;
    },
    attendSource(layer, query) {
      const { key, value } = source[layer]!;
      return g.node('MultiHeadAttention', [query, key, value], attributes, MICROSOFT);
    },
  };
}
