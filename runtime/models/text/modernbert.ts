import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { headWidth } from '../layers/head-sizes.js';
import { embedding, linear, multiplied } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { splitRows } from '../layers/fused-projections.js';
import { gatedHalves } from '../layers/swiglu.js';
import { rotary, rotate } from '../layers/rope.js';
import { distances, textInputs, textPositions } from '../layers/text-inputs.js';
import { firstToken, meanOfTokens, textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, labelCount, labels, layers, size } from '../config-fields.js';
import { windowConfig, windowOf } from '../bases/decoder/llama-config.js';

const theta = z.number().positive();
const config = z.object({
  ...labels,
  ...{ vocab_size: size, hidden_size: size, intermediate_size: size },
  ...{ num_hidden_layers: layers, num_attention_heads: size },
  hidden_activation: z.string().default('gelu'),
  max_position_embeddings: size.default(8192),
  norm_eps: epsilon.default(1e-5),
  norm_bias: z.boolean().default(false),
  rope_theta: theta.default(160_000),
  rope_local_base_freq: theta.nullable().default(10_000),
  attention_bias: z.boolean().default(false),
  global_attn_every_n_layers: z.int().min(1).default(3),
  layer_types: windowConfig.layer_types,
  local_attention: z.int().min(1).default(128),
  mlp_bias: z.boolean().default(false),
  decoder_bias: z.boolean().default(true),
  classifier_pooling: z.enum(['cls', 'mean']).default('cls'),
  classifier_bias: z.boolean().default(false),
  classifier_activation: z.string().default('gelu'),
  tie_word_embeddings: z.boolean().default(true),
});
type Config = z.output<typeof config>;

/** What decoders of this kind have, too. */
type Shared = Pick<
  Config,
  | ('vocab_size' | 'hidden_size' | 'intermediate_size' | 'hidden_activation' | 'mlp_bias')
  | ('norm_eps' | 'norm_bias' | 'classifier_bias' | 'classifier_activation')
>;

export const normOf = (c: Shared) => ({ width: c.hidden_size, epsilon: c.norm_eps, bias: c.norm_bias });

/** Far below any score, yet its sum with the mask of padding is a float. */
const HIDDEN = -1e30;

/** What layers with a window add to scores, float32 [1, 1, tokens, tokens]: each token sees half a window to both sides. */
function windowBias(g: GraphWriter, ids: Value, c: Config): Value {
  return g.once('window', () => {
    const far = g.node('Abs', [distances(g, ids)]);
    const near = g.node('LessOrEqual', [far, g.ints([Math.floor(c.local_attention / 2)], [])]);
    const bias = g.node('Where', [near, g.scalar(0), g.scalar(HIDDEN)]);
    return g.node('Unsqueeze', [bias, g.ints([0, 1])]);
  });
}

function attend(g: GraphWriter, x: Value, { at, ids, padding, isGlobal }: Layer, c: Config): Value {
  const { hidden_size: width, num_attention_heads: heads, attention_bias: bias } = c;
  const counts = { heads, keyHeads: heads, width: headWidth(width, heads) };
  const fused = linear(g, x, at('attn.Wqkv'), { from: width, to: 3 * width, bias });
  const { query, key, value } = splitRows(g, fused, counts);
  const local = isGlobal ? null : c.rope_local_base_freq;
  const positions = textPositions(g, ids);
  const turn = {
    rope_theta: local ?? c.rope_theta,
    max_position_embeddings: c.max_position_embeddings,
  };
  const turned = (part: Value) => rotate(g, part, rotary(g, positions, turn, counts.width), counts);
  const attended = attention(
    g,
    { query: turned(query), key: turned(key), value },
    { heads, width, padding, bias: isGlobal ? undefined : windowBias(g, ids, c) },
  );
  return linear(g, attended, at('attn.Wo'), { from: width, to: width, bias });
}

interface Layer {
  at(name: string): string;
  ids: Value;
  padding: Value;
  isGlobal: boolean;
}

export const feedForward = (g: GraphWriter, x: Value, at: Layer['at'], c: Shared): Value =>
  gatedHalves(
    g,
    x,
    { both: at('mlp.Wi'), down: at('mlp.Wo') },
    { width: c.hidden_size, inner: c.intermediate_size, act: c.hidden_activation, bias: c.mlp_bias },
  );

/** Normed vectors of tokens. */
export function embedded(g: GraphWriter, ids: Value, c: Shared): Value {
  const size = { rows: c.vocab_size, width: c.hidden_size };
  const found = embedding(g, ids, 'model.embeddings.tok_embeddings', size);
  return layerNorm(g, found, 'model.embeddings.norm', normOf(c));
}

function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, padding } = textInputs(g);
  let x = embedded(g, ids, c);
  const windowAt = windowOf(
    { ...c, sliding_window: c.local_attention },
    (layer) => layer % c.global_attn_every_n_layers !== 0,
  );
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (name: string) => `model.layers.${i}.${name}`;
    const isGlobal = windowAt(i) === undefined;
    const read = i === 0 ? x : layerNorm(g, x, at('attn_norm'), normOf(c));
    const middle = g.node('Add', [x, attend(g, read, { at, ids, padding, isGlobal }, c)]);
    const fed = feedForward(g, layerNorm(g, middle, at('mlp_norm'), normOf(c)), at, c);
    x = g.node('Add', [middle, fed]);
  }
  return layerNorm(g, x, 'model.final_norm', normOf(c));
}

/** The layer before all heads; `name` is its own. */
export function head(g: GraphWriter, x: Value, name: string, c: Shared): Value {
  const { hidden_size: width, classifier_bias: bias } = c;
  const dense = linear(g, x, `${name}.dense`, { from: width, to: width, bias });
  return layerNorm(g, activation(g, dense, c.classifier_activation), `${name}.norm`, normOf(c));
}

const modelOf = (c: Config): TextModel => ({
  ...{ width: c.hidden_size, vocabulary: c.vocab_size, labels: labelCount(c) },
  states: (g) => statesOf(g, c),
  tokenHead: (g, states) => head(g, states, 'head', c),
  spans: 'classifier',
  classify(g, states) {
    const pooled = c.classifier_pooling === 'mean' ? meanOfTokens(g, states) : firstToken(g, states);
    return linear(g, head(g, pooled, 'head', c), 'classifier', { from: c.hidden_size, to: labelCount(c) });
  },
  fill(g, states) {
    const own = c.tie_word_embeddings ? 'model.embeddings.tok_embeddings.weight' : 'decoder.weight';
    const size = { rows: c.vocab_size, columns: c.hidden_size, isTable: true };
    const scores = multiplied(g, head(g, states, 'head', c), own, size);
    return c.decoder_bias ? g.node('Add', [scores, g.weight('decoder.bias', [c.vocab_size])]) : scores;
  },
});

/** Rotary positions, gated layers, and a window in two of three layers. modeling_modernbert.py */
export const modernbert = defineFamily({
  modelTypes: ['modernbert'],
  config,
  prefixes: ['model.'],
  heads: textHeads(modelOf),
});
