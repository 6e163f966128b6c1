import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { float } from '../../attributes.js';
import { activation } from '../../blocks/activation.js';
import { cachedAttention, softCap } from '../../blocks/cached-attention.js';
import { decoderHeads } from '../../blocks/decoder.js';
import type { DecoderInputs } from '../../blocks/decoder-inputs.js';
import type { Decoder } from '../../blocks/decoder-model.js';
import { embedding, linear, matMulTransposed, tableScores } from '../../blocks/linear.js';
import { headNorm, rmsNorm } from '../../blocks/norm.js';
import { sparseGate } from '../../blocks/sparse-gate.js';
import { rotary, rotate } from '../../blocks/rotary.js';
import { GraphError } from '../../errors.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { labelCount, size } from '../config.js';
import { llamaConfig, usualSizes, windowConfig } from './config.js';

const count = z.int().min(1).max(64);

const config = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 262_400, width: 2048, inner: 16_384, layers: 35, heads: 8 }),
  ...windowConfig,
  intermediate_size: z.union([size, z.array(size)]).default(16_384),
  num_key_value_heads: size.default(2),
  head_dim: size.default(256),
  sliding_window: z.int().min(1).default(512),
  hidden_activation: z.string().default('gelu_pytorch_tanh'),
  max_position_embeddings: size.default(32_768),
  rope_theta: z.number().positive().default(1e6),
  rope_local_base_freq: z.number().positive().default(1e4),
  pad_token_id: z.int().nullable().default(0),
  tie_word_embeddings: z.boolean().default(true),
  final_logit_softcapping: z.number().positive().nullable().default(30),
  vocab_size_per_layer_input: size.default(262_144),
  hidden_size_per_layer_input: size.default(256),
  num_kv_shared_layers: z.int().min(0).default(15),
  ...{ altup_num_inputs: count.default(4), altup_active_idx: z.int().min(0).default(0) },
  ...{
    altup_coef_clip: z.number().positive().nullable().default(120),
    altup_correct_scale: z.boolean().default(true),
  },
  laurel_rank: size.default(64),
  activation_sparsity_pattern: z.array(z.number().min(0).lt(1)).nullish(),
});
type Config = z.output<typeof config>;

const EVERY = 5;
/** Of networks of more layers, as many begin with gates of which few stay open. */
const SPARSE_LAYERS = 10;

function isFull({ layer_types: types }: Config, layer: number): boolean {
  return types ? types[layer] === 'full_attention' : (layer + 1) % EVERY === 0;
}

/** The layer whose keys and values a layer reads: the last of its kind with ones of its own, for the last layers. */
function keysOf(c: Config, layer: number): number {
  const own = c.num_hidden_layers - c.num_kv_shared_layers;
  if (own <= 0 || layer < own) return layer;
  for (let i = own - 1; i >= 0; i--) if (isFull(c, i) === isFull(c, layer)) return i;
  throw new GraphError('config.json: num_kv_shared_layers leave a kind of layers without keys of its own');
}

function sparsityOf(
  { activation_sparsity_pattern: given, num_hidden_layers: all }: Config,
  layer: number,
): number {
  if (given) return given[layer] ?? 0;
  return all > SPARSE_LAYERS && layer < SPARSE_LAYERS ? 0.95 : 0;
}

interface Layer {
  c: Config;
  layer: number;
  at(name: string): string;
}

const normed = (g: GraphWriter, x: Value, name: string, c: Config): Value =>
  rmsNorm(g, x, name, { width: c.hidden_size, epsilon: c.rms_norm_eps });

const times = (g: GraphWriter, x: Value, factor: number): Value => g.node('Mul', [x, g.scalar(factor)]);

function attend(g: GraphWriter, x: Value, inputs: DecoderInputs, { c, layer, at }: Layer): Value {
  const { hidden_size: from, num_attention_heads: heads, num_key_value_heads: keyHeads, head_dim: width } = c;
  const bias = c.attention_bias === true;
  const source = keysOf(c, layer);
  const full = isFull(c, layer);
  const turns = full ? c : { ...c, rope_theta: c.rope_local_base_freq, rope_scaling: null };
  const part = (name: string, heads: number) =>
    linear(g, x, at(`self_attn.${name}_proj`), { from, to: heads * width, bias });
  const turned = (name: string, heads: number) => {
    const size = { heads, width, epsilon: c.rms_norm_eps };
    const found = headNorm(g, part(name, heads), at(`self_attn.${name}_norm`), size);
    return rotate(g, found, rotary(g, inputs.positions, turns, width), { heads, width });
  };
  const values = () => {
    const split = g.node('Reshape', [part('v', keyHeads), g.ints([0, 0, keyHeads, width])]);
    const ones = g.floats(new Float32Array(width).fill(1));
    const attributes = { axis: -1, epsilon: float(c.rms_norm_eps) };
    const found = g.node('SimplifiedLayerNormalization', [split, ones], attributes);
    return g.node('Reshape', [found, g.ints([0, 0, keyHeads * width])]);
  };
  const kept = g.once(`keys of ${source}`, () => ({ key: turned('k', keyHeads), value: values() }));
  const past = g.once(`past of ${source}`, () => inputs.past(source));
  const shared = { ...inputs, past: () => past, ...(source !== layer && { present: () => undefined }) };
  const mask = inputs.mask(full ? undefined : c.sliding_window);
  const size = { layer, heads, keyHeads, width, scale: 1, mask };
  const found = cachedAttention(g, shared, { query: turned('q', heads), ...kept }, size);
  return linear(g, found, at('self_attn.o_proj'), { from: heads * width, to: from, bias });
}

function feedForward(g: GraphWriter, x: Value, { c, layer, at }: Layer): Value {
  const { hidden_size: width, intermediate_size: given, hidden_activation: act } = c;
  const inner = typeof given === 'number' ? given : given[layer];
  if (inner === undefined) throw new GraphError('config.json: intermediate_size leaves out layers');
  const wide = (name: string) =>
    linear(g, x, at(`mlp.${name}_proj`), { from: width, to: inner, bias: false });
  const sparsity = sparsityOf(c, layer);
  const gate = sparsity > 0 ? sparseGate(g, wide('gate'), sparsity) : wide('gate');
  const product = g.node('Mul', [activation(g, gate, act), wide('up')]);
  return linear(g, product, at('mlp.down_proj'), { from: inner, to: width, bias: false });
}

/** One of the states that stand side by side: float32 [rows, tokens, width] of [rows, tokens, count, width]. */
const one = (g: GraphWriter, all: Value, i: number): Value =>
  g.node('Gather', [all, g.ints([i], [])], { axis: 2 });

/** How the states mix, float32 [rows, tokens, count], by one of them. */
function modalities(g: GraphWriter, x: Value, { c, at }: Layer): Value {
  const { hidden_size: width, altup_num_inputs: states } = c;
  const read = times(g, normed(g, x, at('altup.router_norm'), c), 1 / width);
  const size = { from: width, to: states, bias: false, isExact: true };
  return g.node('Tanh', [linear(g, read, at('altup.modality_router'), size)]);
}

/** What a layer's states would be without it: a mix of those before it. */
function predicted(g: GraphWriter, states: Value, of: Layer): Value {
  const { altup_num_inputs: n, altup_active_idx: active } = of.c;
  const size = { from: n, to: n * n, bias: false, isExact: true };
  const mix = linear(g, modalities(g, one(g, states, active), of), of.at('altup.prediction_coefs'), size);
  const matrix = g.node('Reshape', [mix, g.ints([0, 0, n, n])]);
  return g.node('Add', [g.node('MatMul', [matrix, states]), states]);
}

/** All states, moved by what the layer has made of one of them. */
function corrected(
  g: GraphWriter,
  { prediction, found }: { prediction: Value; found: Value },
  of: Layer,
): Value {
  const { altup_num_inputs: n, altup_active_idx: active, altup_coef_clip: clip } = of.c;
  const stored = g.weight(of.at('altup.correction_coefs.weight'), [n, n]);
  const bounded = clip === null ? stored : g.node('Clip', [stored, g.scalar(-clip), g.scalar(clip)]);
  const mix = g.node('Add', [matMulTransposed(g, modalities(g, found, of), bounded), g.scalar(1)]);
  const news = g.node('Sub', [found, one(g, prediction, active)]);
  const parts = g.node('Mul', [
    g.node('Unsqueeze', [news, g.ints([2])]),
    g.node('Unsqueeze', [mix, g.ints([3])]),
  ]);
  return g.node('Add', [prediction, parts]);
}

/** A short way beside attention. */
function beside(g: GraphWriter, x: Value, { c, at }: Layer): Value {
  const { hidden_size: width, laurel_rank: rank } = c;
  const narrow = linear(g, x, at('laurel.linear_left'), { from: width, to: rank, bias: false });
  const wide = linear(g, narrow, at('laurel.linear_right'), { from: rank, to: width, bias: false });
  return g.node('Add', [x, normed(g, wide, at('laurel.post_laurel_norm'), c)]);
}

/** What the token itself says to this layer, added to all states but the first. */
function withToken(g: GraphWriter, states: Value, of: Layer): Value {
  const { c, layer, at } = of;
  const { hidden_size: width, hidden_size_per_layer_input: own, altup_num_inputs: n } = c;
  const first = one(g, states, c.altup_active_idx);
  const scale = () => g.weight(at('altup.correct_output_scale'), [width]);
  const read = c.altup_correct_scale ? g.node('Mul', [first, scale()]) : first;
  const gate = linear(g, read, at('per_layer_input_gate'), { from: width, to: own, bias: false });
  const said = one(g, g.once(TOKENS, notYet), layer);
  const product = g.node('Mul', [activation(g, gate, c.hidden_activation), said]);
  const wide = linear(g, product, at('per_layer_projection'), { from: own, to: width, bias: false });
  const found = g.node('Unsqueeze', [normed(g, wide, at('post_per_layer_input_norm'), c), g.ints([2])]);
  const others = Array.from({ length: n }, (_, i) => (i === 0 ? 0 : 1));
  return g.node('Add', [states, g.node('Mul', [found, g.floats(others, [1, 1, n, 1])])]);
}

/** Key of what tokens say to each layer, float32 [rows, tokens, layers, own width], which is made before the first one. */
const TOKENS = 'what tokens say to layers';

function tokensSay(g: GraphWriter, x: Value, ids: Value, c: Config): Value {
  const { hidden_size: width, hidden_size_per_layer_input: own, num_hidden_layers: layers } = c;
  const to = layers * own;
  const split = (value: Value) => g.node('Reshape', [value, g.ints([0, 0, layers, own])]);
  const rows = c.vocab_size_per_layer_input;
  const table = embedding(g, ids, 'model.embed_tokens_per_layer', { rows, width: to });
  const name = 'model.per_layer_model_projection';
  const read = split(times(g, linear(g, x, name, { from: width, to, bias: false }), width ** -0.5));
  const norm = { width: own, epsilon: c.rms_norm_eps };
  const projected = rmsNorm(g, read, 'model.per_layer_projection_norm', norm);
  return times(g, g.node('Add', [projected, split(times(g, table, Math.sqrt(own)))]), Math.SQRT1_2);
}

function notYet(): Value {
  throw new Error('what tokens say is known before the first layer');
}

/** Least mean square of a state. */
const LEAST = 1e-5;

/** A projection of a state, made as long as another one. */
function alike(
  g: GraphWriter,
  x: Value,
  name: string,
  { like, width }: { like: Value; width: number },
): Value {
  const square = (value: Value) =>
    g.node('ReduceMean', [g.node('Mul', [value, value]), g.ints([-1])], { keepdims: 1 });
  const found = linear(g, x, name, { from: width, to: width, bias: false });
  const length = g.node('Sqrt', [g.node('Max', [square(found), g.scalar(LEAST)])]);
  return g.node('Div', [g.node('Mul', [found, g.node('Sqrt', [square(like)])]), length]);
}

function model(c: Config): Decoder {
  const { hidden_size: width, vocab_size: vocabulary, altup_num_inputs: n, final_logit_softcapping: cap } = c;
  const others = Array.from({ length: n - 1 }, (_, i) => i);
  const split = (g: GraphWriter, x: Value) => g.node('Reshape', [x, g.ints([0, 0, n, width])]);
  const joined = (g: GraphWriter, states: Value) => g.node('Reshape', [states, g.ints([0, 0, n * width])]);
  return {
    ...{
      layers: c.num_hidden_layers,
      width,
      vocabulary,
      labels: labelCount(c),
      padId: c.pad_token_id ?? undefined,
    },
    ...{ keyHeads: c.num_key_value_heads, headWidth: c.head_dim },
    embed: (g, ids) =>
      times(g, embedding(g, ids, 'model.embed_tokens', { rows: vocabulary, width }), Math.sqrt(width)),
    place(g, x, inputs) {
      g.once(TOKENS, () => tokensSay(g, x, inputs.ids!, c));
      const more = others.map((i) => alike(g, x, `model.altup_projections.${i}`, { like: x, width }));
      return g.node('Concat', [x, ...more], { axis: -1 });
    },
    layer(g, x, layer, inputs) {
      const of: Layer = { c, layer, at: (name) => `model.layers.${layer}.${name}` };
      const prediction = predicted(g, split(g, x), of);
      const active = one(g, prediction, c.altup_active_idx);
      const read = normed(g, active, of.at('input_layernorm'), c);
      const attended = normed(g, attend(g, read, inputs, of), of.at('post_attention_layernorm'), c);
      const sum = g.node('Add', [g.node('Add', [active, attended]), beside(g, read, of)]);
      const middle = times(g, sum, Math.SQRT1_2);
      const fed = feedForward(g, normed(g, middle, of.at('pre_feedforward_layernorm'), c), of);
      const found = g.node('Add', [middle, normed(g, fed, of.at('post_feedforward_layernorm'), c)]);
      return joined(g, withToken(g, corrected(g, { prediction, found }, of), of));
    },
    finish(g, x) {
      const states = split(g, x);
      const first = one(g, states, 0);
      const more = others.map((i) =>
        alike(g, one(g, states, i + 1), `model.altup_unembed_projections.${i}`, { like: first, width }),
      );
      const sum = more.reduce((all, next) => g.node('Add', [all, next]), first);
      return normed(g, times(g, sum, 1 / n), 'model.norm', c);
    },
    scores(g, x) {
      const tables = { own: 'lm_head.weight', tied: 'model.embed_tokens.weight' };
      const scores = tableScores(g, x, tables, { rows: vocabulary, width, tie: c.tie_word_embeddings });
      return cap === null ? scores : softCap(g, scores, cap);
    },
  };
}

const { 'causal-lm': languageModel, embedding: states } = decoderHeads<Config>(model);

/**
 * Several states stand side by side, of which each layer computes one; the last layers read keys and values of former ones.
 * modeling_gemma3n.py
 */
export const gemma3n = defineArchitecture({
  modelTypes: ['gemma3n_text'],
  config,
  prefixes: ['model.'],
  // As transformers itself saves it.
  older: {
    'per_layer_model_projection.weight': 'per_layer_model.language_model_projection.weight',
  },
  // Under the name that it has beside its towers.
  parts: { 'model.': ['model.language_model.', 'model.'] },
  heads: { 'causal-lm': languageModel, embedding: states },
});
