import { activation } from '../../layers/activation.js';
import { attention } from '../../layers/attention.js';
import { headWidth } from '../../layers/head-sizes.js';
import { linear, lookedUp, multiplied } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import type { Seq2Seq } from './encoder-decoder-heads.js';
import type { DecoderState } from '../../layers/cross-decoder.js';
import type { TextInputs } from '../../layers/text-inputs.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

/** Encoder-decoders with BART's layers and names. */
export interface BartLike {
  width: number;
  /** Of the encoder's and of the decoder's table of tokens. */
  vocabulary: number;
  answerVocabulary: number;
  layers: { encoder: number; decoder: number };
  heads: { encoder: number; decoder: number };
  inner: { encoder: number; decoder: number };
  act: string;
  /** Norms stand before attention and feed-forward, and one behind the last layer; or behind each. */
  normsBefore: boolean;
  /** A norm over the sum of tokens and positions; `answers`: the decoder's is over its tokens alone. */
  embeddingNorm: boolean | 'answers';
  /** Factor of the tokens' vectors. */
  embedScale: number;
  /** float32 [1 or rows, tokens, width] for ids [rows, tokens], at these positions (int64 of that shape) or from 0 on. */
  positions(g: GraphWriter, ids: Value, side: Side, positions?: Value): Value;
  tie: boolean;
  /** Each side has a table of its own, and none is shared. */
  ownTables?: boolean;
  /**
   * The encoder's attention with its output, where it is another one: float32 [rows, tokens, width].
   * @param read states as a layer attends to them
   */
  attendEncoder?(g: GraphWriter, read: Value, of: EncoderLayer): Value;
  /** True where both sides read vectors of tokens, [rows, tokens, width], in place of ids. */
  embedded?: boolean;
  /** False where keys are projected without a bias. */
  keyBias?: boolean;
  /** Of the states that the decoder attends to; `width` if absent. */
  sourceWidth?: number;
}

export interface EncoderLayer {
  layer: number;
  /** Of the layer, as tensors begin. */
  name: string;
  inputs: TextInputs;
}

export type Side = 'encoder' | 'decoder';

const EPSILON = 1e-5;

/** The graph's parts, as blocks/seq2seq.ts puts them together. */
export function bartModel(model: BartLike): Seq2Seq {
  const { width, heads, answerVocabulary, sourceWidth = width } = model;
  return {
    width: sourceWidth,
    ...(model.embedded && { embedded: true }),
    vocabulary: answerVocabulary,
    decoderLayers: model.layers.decoder,
    heads: heads.decoder,
    headWidth: headWidth(width, heads.decoder),
    encode: (g, inputs) => encodeTokens(g, inputs, model),
    projectSource(g, layer, states) {
      const one = (name: string) =>
        linear(g, states, `model.decoder.layers.${layer}.encoder_attn.${name}_proj`, {
          ...{ from: sourceWidth, to: width, bias: hasBias(name, model) },
        });
      return { key: one('k'), value: one('v') };
    },
    decode: (g, ids, state) => decodeTokens(g, ids, state, model),
    scores(g, x) {
      const own = model.tie ? undefined : 'lm_head.weight';
      const table = own && g.weights.has(own) ? own : tableName(g, 'decoder');
      const scores = multiplied(g, x, table, { rows: answerVocabulary, columns: width, isTable: true });
      const bias = 'final_logits_bias';
      return g.weights.has(bias) ? g.node('Add', [scores, g.weight(bias, [1, answerVocabulary])]) : scores;
    },
  };
}

/** @param letter of a projection */
const hasBias = (letter: string, { keyBias = true }: BartLike): boolean => letter !== 'k' || keyBias;

/** Both sides share one table, which is stored under one of three names. */
export function tableName(g: GraphWriter, side: Side): string {
  const names = [
    `model.${side}.embed_tokens.weight`,
    'model.shared.weight',
    'model.encoder.embed_tokens.weight',
  ];
  return names.find((name) => g.weights.has(name)) ?? names[1]!;
}

function embed(g: GraphWriter, ids: Value, model: BartLike, of: { side: Side; positions?: Value }): Value {
  const { width, embedScale } = model;
  const rows = of.side === 'encoder' ? model.vocabulary : model.answerVocabulary;
  const table = model.ownTables ? `model.${of.side}.embed_tokens.weight` : tableName(g, of.side);
  const looked = () => lookedUp(g, ids, table, { rows, width });
  const scaled = (x: Value) => (embedScale === 1 ? x : g.node('Mul', [x, g.scalar(embedScale)]));
  const tokens = model.embedded ? ids : scaled(looked());
  const placed = (x: Value) => g.node('Add', [x, model.positions(g, ids, of.side, of.positions)]);
  const normed = (x: Value) =>
    layerNorm(g, x, `model.${of.side}.layernorm_embedding`, { width, epsilon: EPSILON });
  if (model.embeddingNorm === 'answers' && of.side === 'decoder') return placed(normed(tokens));
  return model.embeddingNorm ? normed(placed(tokens)) : placed(tokens);
}

function encodeTokens(g: GraphWriter, inputs: TextInputs, model: BartLike): Value {
  const { width, heads } = model;
  let x = embed(g, inputs.ids, model, { side: 'encoder' });
  for (let i = 0; i < model.layers.encoder; i++) {
    const name = `model.encoder.layers.${i}`;
    const part = partOf(g, name, model);
    const sizes = { heads: heads.encoder, width, padding: inputs.padding };
    x = model.attendEncoder
      ? part.added(x, 'self_attn_layer_norm', (read) =>
          model.attendEncoder!(g, read, { layer: i, name, inputs }),
        )
      : part.around(x, 'self_attn', (read) => attention(g, part.project(read, 'self_attn'), sizes));
    x = part.feedForward(x, model.inner.encoder);
  }
  return finish(g, x, 'encoder', model);
}

/** All layers of the decoder. */
export function decodeTokens(g: GraphWriter, ids: Value, state: DecoderState, model: BartLike): Value {
  const { width } = model;
  let x = embed(g, ids, model, { side: 'decoder', positions: state.positions });
  for (let i = 0; i < model.layers.decoder; i++) {
    const name = `model.decoder.layers.${i}`;
    const part = partOf(g, name, model);
    x = part.around(x, 'self_attn', (read) => state.attendSelf(i, part.project(read, 'self_attn')));
    x = part.around(x, 'encoder_attn', (read) =>
      state.attendSource(i, linear(g, read, `${name}.encoder_attn.q_proj`, { from: width, to: width })),
    );
    x = part.feedForward(x, model.inner.decoder);
  }
  return finish(g, x, 'decoder', model);
}

function finish(g: GraphWriter, x: Value, side: Side, { normsBefore, width }: BartLike): Value {
  return normsBefore ? layerNorm(g, x, `model.${side}.layer_norm`, { width, epsilon: EPSILON }) : x;
}

/** Writers of a layer's parts. */
function partOf(g: GraphWriter, name: string, model: BartLike) {
  const { width, act, normsBefore } = model;
  const size = { from: width, to: width };
  const normed = (x: Value, norm: string, wanted: boolean) =>
    wanted ? layerNorm(g, x, `${name}.${norm}`, { width, epsilon: EPSILON }) : x;
  const added = (x: Value, norm: string, write: (read: Value) => Value) =>
    normed(g.node('Add', [x, write(normed(x, norm, normsBefore))]), norm, !normsBefore);
  return {
    /** x + write(x), with the norm where it stands. */
    added,
    project(x: Value, of: string) {
      const one = (letter: string) =>
        linear(g, x, `${name}.${of}.${letter}_proj`, { ...size, bias: hasBias(letter, model) });
      return { query: one('q'), key: one('k'), value: one('v') };
    },
    /** x + output(attend(x)), with the norm where it stands. */
    around: (x: Value, of: string, attend: (read: Value) => Value) =>
      added(x, `${of}_layer_norm`, (read) => linear(g, attend(read), `${name}.${of}.out_proj`, size)),
    feedForward: (x: Value, inner: number) =>
      added(x, 'final_layer_norm', (read) => {
        const wide = activation(g, linear(g, read, `${name}.fc1`, { from: width, to: inner }), act);
        return linear(g, wide, `${name}.fc2`, { from: inner, to: width });
      }),
  };
}
