import type { Family } from '../../family.js';
import { decoderHeads } from './decoder-heads.js';
import type { Decoder } from './decoder.js';
import type { DecoderInputs } from '../../layers/decoder-inputs.js';
import { type Projected, softCap } from '../../layers/cached-attention.js';
import { gatedFeedForward } from '../../layers/swiglu.js';
import { embedding, linear, tableScores } from '../../layers/linear.js';
import { eachHeadNorm, headNorm, type NormOptions, rmsNorm } from '../../layers/norm.js';
import { splitRows } from '../../layers/fused-projections.js';
import type { RotaryConfig } from '../../layers/rope-frequencies.js';
import { positionGrowth } from '../../layers/position-growth.js';
import { type SelfAttention, selfAttention } from '../../layers/self-attention.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

/** Decoders with Llama's names of tensors and RMSNorms; what is absent is as in Llama. */
export interface LlamaLike {
  layers: number;
  vocabulary: number;
  /** Of the states, and of the feed-forward layer inside. */
  width: number;
  inner: number;
  heads: number;
  keyHeads: number;
  headWidth: number;
  epsilon: number;
  /** Activation of the feed-forward layer. */
  act: string;
  tie: boolean;
  labels: number;
  padId: number | undefined;
  bias?: { projections?: boolean; output?: boolean; feedForward?: boolean };
  /** Queries, keys and values are one projection, gate and up are another. */
  fused?: boolean;
  /** Added to the weights of norms. */
  normOffset?: number;
  /** What parts are called where they have other names than in Llama. */
  names?: Partial<PartNames>;
  /** In place of RMSNorm. */
  norm?: (g: GraphWriter, x: Value, name: string, size: NormOptions) => Value;
  /** Names of the norms behind attention and feed-forward, where there are others before them. */
  normsBehind?: readonly [attention: string, feedForward: string];
  /** Feed-forward reads what attention reads, and both are added. */
  parallel?: boolean;
  /** Norms of queries and keys: RMSNorms of each head, or of all of them, or a LayerNorm with weights of its own for each. */
  headNorms?: 'head' | 'whole' | 'each';
  /** These norms come once heads are turned. */
  normsTurned?: boolean;
  /** Where norms stand: before attention and feed-forward, after them, or both; by layer where layers differ. */
  norms?: Norms | ((layer: number) => Norms);
  /** Of scores; 1 / sqrt(headWidth) if absent. */
  scale?: number;
  /** Bounds of scores, and of the answer's. */
  cap?: number | undefined;
  finalCap?: number | undefined;
  /** Factors of the tokens' vectors, of what each layer adds, and of the answer's scores. */
  embedScale?: number;
  residualScale?: number;
  scoresScale?: number;
  /** The answer's scores have a bias. */
  scoresBias?: boolean;
  /** Undefined for a layer whose heads are not turned. */
  rotary(layer: number): RotaryConfig | undefined;
  /** Neighbours of a head are turned as pairs. */
  interleaved?: boolean;
  /** Rotated queries are multiplied by 1 + beta · ln(1 + ⌊position / length⌋), as in Llama 4. */
  queryGrowth?: { beta: number; length: number };
  /** How many tokens a layer sees back; undefined: all. */
  window?(layer: number): number | undefined;
  /** Each head has a score beside those of tokens, `self_attn.sinks`. */
  sinks?: boolean;
  /** Name of a layer over what attention reads, by whose sigmoids its answers are multiplied. */
  gate?: string;
  /** The same with one number for each head. */
  headGate?: string;
  /** Bounds of queries, keys and values. */
  clip?: number | undefined;
  /** In place of attention by one projection each of queries, keys and values; undefined where a layer has that. */
  attend?(g: GraphWriter, x: Value, inputs: DecoderInputs, of: LayerNames): Value | undefined;
  /** What stands beside attention, reads what it reads, and is added to it. */
  beside?(g: GraphWriter, x: Value, inputs: DecoderInputs, of: LayerNames): Value;
  /** Factors of what attention reads, of its keys, and of what it gives. */
  attentionFactors?: { input: number; keys: number; output: number };
  /** In place of one gated layer; undefined where a layer has that. */
  feedForward?(g: GraphWriter, x: Value, at: (name: string) => string, layer: number): Value | undefined;
}

type Norms = 'before' | 'after' | 'around';

export interface PartNames {
  /** Of the model. */
  norm: string;
  /** Of a layer. */
  attentionNorm: string;
  feedForwardNorm: string;
  output: string;
  queryNorm: string;
  keyNorm: string;
  feedForward: string;
}

const LLAMA_NAMES: PartNames = {
  norm: 'model.norm',
  attentionNorm: 'input_layernorm',
  feedForwardNorm: 'post_attention_layernorm',
  output: 'self_attn.o_proj',
  queryNorm: 'self_attn.q_norm',
  keyNorm: 'self_attn.k_norm',
  feedForward: 'mlp',
};

export interface LayerNames {
  layer: number;
  /** Name of a tensor of the layer. */
  at(name: string): string;
}

/** What families of this kind have in common: names, what the tasks want, and the model for others to read by. */
export function llamaLike<C>(
  modelOf: (config: C) => LlamaLike,
): Pick<Family<C>, 'prefixes' | 'heads'> & { decoder(config: C): Decoder } {
  const decoder = (config: C) => llamaDecoder(modelOf(config));
  return { prefixes: PREFIXES, heads: decoderHeads(decoder), decoder };
}

/** Prefix of the tensors of the model without its head. */
const PREFIXES = ['model.'];

interface LayerOf extends LayerNames {
  model: LlamaLike;
  names: PartNames;
}

export function llamaDecoder(model: LlamaLike): Decoder {
  const { width, vocabulary, layers, labels, padId, keyHeads, headWidth } = model;
  const names = { ...LLAMA_NAMES, ...model.names };
  const tables = { own: 'lm_head.weight', tied: 'model.embed_tokens.weight' };
  const plainScores = (g: GraphWriter, x: Value) =>
    tableScores(g, x, tables, { rows: vocabulary, width, tie: model.tie });
  return {
    ...{ layers, width, vocabulary, labels, padId, keyHeads, headWidth },
    embed: (g, ids) =>
      scaled(g, embedding(g, ids, 'model.embed_tokens', { rows: vocabulary, width }), model.embedScale),
    layer: (g, x, layer, inputs) =>
      writeLayer(g, x, inputs, { model, names, layer, at: (name) => `model.layers.${layer}.${name}` }),
    finish: (g, x) => norm(g, x, names.norm, model),
    plainScores,
    scores(g, x) {
      const plain = plainScores(g, x);
      const whole = model.scoresBias ? g.node('Add', [plain, g.weight('lm_head.bias', [vocabulary])]) : plain;
      const all = scaled(g, whole, model.scoresScale);
      return model.finalCap === undefined ? all : softCap(g, all, model.finalCap);
    },
  };
}

function writeLayer(g: GraphWriter, x: Value, inputs: DecoderInputs, of: LayerOf): Value {
  const { model, names, at } = of;
  const { residualScale } = model;
  const norms = (typeof model.norms === 'function' ? model.norms(of.layer) : model.norms) ?? 'before';
  const add = (to: Value, part: Value) => g.node('Add', [to, scaled(g, part, residualScale)]);
  const normed = (value: Value, name: string) => norm(g, value, at(name), model);
  const ahead = (value: Value, name: string) => (norms === 'after' ? value : normed(value, name));
  const behind = (value: Value, name: string) => (norms === 'before' ? value : normed(value, name));
  const read = ahead(x, names.attentionNorm);
  const attended = attend(g, read, inputs, of);
  if (model.parallel) return add(add(x, attended), feedForward(g, read, of));
  const around = norms === 'around' && !model.normsBehind;
  const [first, last] = model.normsBehind ?? ['post_attention_layernorm', 'post_feedforward_layernorm'];
  const middle = add(x, behind(attended, first));
  const second = around ? 'pre_feedforward_layernorm' : names.feedForwardNorm;
  return add(middle, behind(feedForward(g, ahead(middle, second), of), last));
}

function attend(g: GraphWriter, x: Value, inputs: DecoderInputs, of: LayerOf): Value {
  const { model, layer, at } = of;
  const own = model.attend?.(g, x, inputs, { layer, at });
  if (own !== undefined) return own;
  const { input, output } = model.attentionFactors ?? {};
  const found = scaled(g, attendByHeads(g, scaled(g, x, input), inputs, of), output);
  return model.beside ? g.node('Add', [found, model.beside(g, x, inputs, { layer, at })]) : found;
}

function attendByHeads(g: GraphWriter, x: Value, inputs: DecoderInputs, of: LayerOf): Value {
  const { model, names, layer, at } = of;
  const { width: to, heads, keyHeads, headWidth: width } = model;
  const projected = project(g, x, of);
  const attended = selfAttention(g, inputs, projected, {
    ...{ layer, heads, keyHeads, width, cap: model.cap, scale: model.scale ?? width ** -0.5 },
    window: model.window?.(layer),
    sinks: model.sinks ? g.weight(at('self_attn.sinks'), [heads]) : undefined,
    ...{ rotary: model.rotary(layer), interleaved: model.interleaved },
    behind: behindRope(g, inputs, of),
  });
  const opened = gated(g, attended, x, of);
  const size = { from: heads * width, to, bias: model.bias?.output ?? false };
  return linear(g, opened, at(names.output), size);
}

/** What attention gives, times its gates, where there are some. @param x what attention reads */
function gated(g: GraphWriter, attended: Value, x: Value, { model, at }: LayerOf): Value {
  const { gate, headGate, width: from, heads, headWidth } = model;
  const gateOf = (name: string, to: number) =>
    g.node('Sigmoid', [linear(g, x, at(name), { from, to, bias: false })]);
  if (gate !== undefined) return g.node('Mul', [attended, gateOf(gate, heads * headWidth)]);
  if (headGate === undefined) return attended;
  const split = g.node('Reshape', [attended, g.ints([0, 0, heads, headWidth])]);
  const opened = g.node('Mul', [split, g.node('Unsqueeze', [gateOf(headGate, heads), g.ints([3])])]);
  return g.node('Reshape', [opened, g.ints([0, 0, heads * headWidth])]);
}

/** What rotated queries and keys go through. */
function behindRope(g: GraphWriter, inputs: DecoderInputs, of: LayerOf): SelfAttention['behind'] {
  const { model, names } = of;
  if (model.normsTurned)
    return {
      query: (value) => headNormed(g, value, of, { name: names.queryNorm, count: model.heads }),
      key: (value) => headNormed(g, value, of, { name: names.keyNorm, count: model.keyHeads }),
    };
  const { queryGrowth: growth } = model;
  return growth && { query: (value) => g.node('Mul', [value, positionGrowth(g, inputs.positions, growth)]) };
}

/** Queries or keys behind their norm, where there is one. */
function headNormed(
  g: GraphWriter,
  x: Value,
  { model, at }: LayerOf,
  { name, count }: { name: string; count: number },
): Value {
  const { headWidth: width, epsilon, normOffset: offset } = model;
  if (!model.headNorms) return x;
  const size = { width, epsilon, offset };
  const named = { ...size, heads: count };
  if (model.headNorms === 'head') return headNorm(g, x, at(name), named);
  if (model.headNorms === 'each')
    return eachHeadNorm(g, x, g.weight(at(`${name}.weight`), [count, width]), named);
  return rmsNorm(g, x, at(name), { ...size, width: count * width });
}

function project(g: GraphWriter, x: Value, of: LayerOf): Projected {
  const { model, names, at } = of;
  const { width: from, heads, keyHeads, headWidth: width } = model;
  const bias = model.bias?.projections ?? false;
  if (model.fused) {
    const to = (heads + 2 * keyHeads) * width;
    return splitRows(g, linear(g, x, at('self_attn.qkv_proj'), { from, to, bias }), {
      heads,
      keyHeads,
      width,
    });
  }
  const one = (name: string, count: number) =>
    linear(g, x, at(`self_attn.${name}_proj`), { from, to: count * width, bias });
  const normed = (plain: Value, name: string, count: number) =>
    model.normsTurned ? plain : headNormed(g, plain, of, { name, count });
  const clipped = (value: Value) =>
    model.clip === undefined ? value : g.node('Clip', [value, g.scalar(-model.clip), g.scalar(model.clip)]);
  const query = clipped(normed(one('q', heads), names.queryNorm, heads));
  const keys = scaled(g, one('k', keyHeads), model.attentionFactors?.keys);
  return {
    query,
    key: clipped(normed(keys, names.keyNorm, keyHeads)),
    value: clipped(one('v', keyHeads)),
  };
}

function feedForward(g: GraphWriter, x: Value, { model, names, layer, at }: LayerOf): Value {
  const { width, inner, act, fused = false } = model;
  const own = model.feedForward?.(g, x, at, layer);
  if (own !== undefined) return own;
  const bias = model.bias?.feedForward ?? false;
  return gatedFeedForward(g, x, (name) => at(`${names.feedForward}.${name}`), {
    ...{ width, inner, act, bias, fused },
  });
}

function norm(g: GraphWriter, x: Value, name: string, model: LlamaLike): Value {
  const { width, epsilon, normOffset: offset } = model;
  return model.norm?.(g, x, name, { width, epsilon }) ?? rmsNorm(g, x, name, { width, epsilon, offset });
}

function scaled(g: GraphWriter, x: Value, factor = 1): Value {
  return factor === 1 ? x : g.node('Mul', [x, g.scalar(factor)]);
}
