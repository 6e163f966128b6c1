import * as z from 'zod';
import type { AudioNetwork } from '../../core/network.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { clippedDistanceBias } from '../layers/shaw-relative-bias.js';
import { convolution, convolve } from '../layers/convolution.js';
import { contentAndDistance } from '../layers/content-and-distance.js';
import { gatedChannels } from '../layers/glu.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { rotary, rotate } from '../layers/rope.js';
import { positionsOf } from '../layers/text-inputs.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { epsilon, labelCount, labels, layers, size } from '../config-fields.js';
import { adaptedWidth, adapterConfig, frameAdapter, refuseAdapters } from '../bases/audio/adapters.js';
import { audioLabels } from '../bases/audio/audio-heads.js';

const reach = z.int().min(0).max(65536);

const config = z.object({
  ...labels,
  ...{ vocab_size: size.nullish(), hidden_size: size.default(1024), num_hidden_layers: layers.default(24) },
  ...{ num_attention_heads: size.default(16), intermediate_size: size.default(4096) },
  feature_projection_input_dim: size.default(160),
  ...{ hidden_act: z.string().default('swish'), layer_norm_eps: epsilon.default(1e-5) },
  // What is none of these has no positions, as in Python.
  position_embeddings_type: z.string().nullable().default('relative_key'),
  rotary_embedding_base: z.number().positive().max(1e12).default(10_000),
  ...{ left_max_position_embeddings: reach.default(64), right_max_position_embeddings: reach.default(8) },
  conv_depthwise_kernel_size: z.int().min(1).max(65536).default(31),
  ...{ use_weighted_layer_sum: z.boolean().default(false), classifier_proj_size: size.default(768) },
  ...{ ...adapterConfig, num_adapter_layers: layers.default(1), adapter_act: z.string().default('relu') },
  use_intermediate_ffn_before_adapter: z.boolean().default(false),
});
type Config = z.output<typeof config>;

const base = 'wav2vec2_bert.';

interface Frames {
  /** float32 [rows, frames, 1]: 0 for what fills up. */
  seen: Value;
  /** The same as int32 [rows, frames]. */
  padding: Value;
}

/** What the encoder reads, and what each layer gives: float32 [rows, frames, hidden_size]. */
function framesStates(g: GraphWriter, c: Config): { states: Value[]; frames: Frames } {
  const features = g.input('input_features', 'float32', ['rows', 'frames', c.feature_projection_input_dim]);
  const mask = g.input('attention_mask', 'int64', ['rows', 'frames']);
  const seen = g.node('Unsqueeze', [g.node('Cast', [mask], { to: ELEMENTS.float32 }), g.ints([2])]);
  const frames = { seen, padding: g.node('Cast', [mask], { to: ELEMENTS.int32 }) };
  const from = c.feature_projection_input_dim;
  const normed = layerNorm(g, features, `${base}feature_projection.layer_norm`, {
    ...{ width: from, epsilon: c.layer_norm_eps },
  });
  const projected = linear(g, normed, `${base}feature_projection.projection`, { from, to: c.hidden_size });
  const states = [g.node('Mul', [projected, seen])];
  for (let i = 0; i < c.num_hidden_layers; i++)
    states.push(conformerLayer(g, states.at(-1)!, frames, { at: `${base}encoder.layers.${i}`, c }));
  return { states, frames };
}

interface Layer {
  at: string;
  c: Config;
}

/** Half a feed-forward, attention, a convolution, and the other half, each added to what it reads. */
function conformerLayer(g: GraphWriter, x: Value, frames: Frames, { at, c }: Layer): Value {
  const norm = { width: c.hidden_size, epsilon: c.layer_norm_eps };
  const half = (state: Value, name: string) => {
    const read = layerNorm(g, state, `${at}.${name}_layer_norm`, norm);
    return halfFed(g, { state, read }, `${at}.${name}`, { c, act: c.hidden_act });
  };
  const first = half(x, 'ffn1');
  const read = layerNorm(g, first, `${at}.self_attn_layer_norm`, norm);
  const attended = g.node('Add', [attend(g, read, frames, { at: `${at}.self_attn`, c }), first]);
  const convolved = g.node('Add', [
    attended,
    convolve1d(g, attended, frames, { at: `${at}.conv_module`, c }),
  ]);
  return layerNorm(g, half(convolved, 'ffn2'), `${at}.final_layer_norm`, norm);
}

/** The state and half of what a feed-forward makes of what it reads. */
function halfFed(
  g: GraphWriter,
  { state, read }: { state: Value; read: Value },
  name: string,
  { c, act }: { c: Config; act: string },
): Value {
  const size = { from: c.hidden_size, to: c.intermediate_size };
  const wide = activation(g, linear(g, read, `${name}.intermediate_dense`, size), act);
  const found = linear(g, wide, `${name}.output_dense`, { from: size.to, to: size.from });
  return g.node('Add', [g.node('Mul', [found, g.scalar(0.5)]), state]);
}

function attend(g: GraphWriter, x: Value, { padding }: Frames, { at, c }: Layer): Value {
  const [width, heads, kind] = [c.hidden_size, c.num_attention_heads, c.position_embeddings_type];
  const project = (read: Value, name: string) =>
    linear(g, read, `${at}.linear_${name}`, { from: width, to: width });
  const read = kind === 'rotary' ? turned(g, x, c) : x;
  const projected = { query: project(read, 'q'), key: project(read, 'k'), value: project(x, 'v') };
  const placed = placedQuery(g, projected.query, { at, c });
  return project(
    attention(g, { ...projected, ...placed }, { heads, width, padding, bias: placed.bias }),
    'out',
  );
}

/** Heads of the states rotated by their positions, before anything is made of them. */
function turned(g: GraphWriter, x: Value, c: Config): Value {
  const heads = c.num_attention_heads;
  const width = headWidth(c.hidden_size, heads);
  const positions = g.once('places of frames', () =>
    g.node('Expand', [positionsOf(g, x), g.node('Shape', [x], { start: 0, end: 2 })]),
  );
  const base = { rope_theta: c.rotary_embedding_base, max_position_embeddings: 1 };
  const angles = rotary(g, positions, base, width);
  return rotate(g, x, angles, { heads, width });
}

/** Queries as they meet the keys, and what distances add to their scores. */
function placedQuery(g: GraphWriter, query: Value, { at, c }: Layer): { query: Value; bias?: Value } {
  const [width, heads, kind] = [c.hidden_size, c.num_attention_heads, c.position_embeddings_type];
  if (kind === 'relative') {
    const [content, distance] = [`${at}.pos_bias_u`, `${at}.pos_bias_v`];
    const names = { distances: `${at}.linear_pos`, content, distance };
    return contentAndDistance(g, query, names, { width, heads });
  }
  if (kind !== 'relative_key') return { query };
  const [before, behind] = [c.left_max_position_embeddings, c.right_max_position_embeddings];
  const table = `${at}.distance_embedding.weight`;
  return { query, bias: clippedDistanceBias(g, query, table, { heads, width, before, behind }) };
}

/** Gates, a convolution of each channel over the frames before, and one over all channels. */
function convolve1d(g: GraphWriter, x: Value, { seen }: Frames, { at, c }: Layer): Value {
  const [width, kernel] = [c.hidden_size, c.conv_depthwise_kernel_size];
  const norm = { width, epsilon: c.layer_norm_eps };
  const turned = (value: Value) => g.node('Transpose', [value], { perm: [0, 2, 1] });
  const read = turned(g.node('Mul', [layerNorm(g, x, `${at}.layer_norm`, norm), seen]));
  const point = { kernel: [1], bias: false };
  const both = convolution(g, read, `${at}.pointwise_conv1`, { from: width, to: 2 * width, ...point });
  const gated = gatedChannels(g, both, width);
  const filled = g.node('Pad', [gated, g.ints([0, 0, kernel - 1, 0, 0, 0])]);
  const weight = g.weight(`${at}.depthwise_conv.weight`, [width, 1, kernel]);
  const each = convolve(g, [filled, weight], { kernel: [kernel], groups: width });
  const found = activation(
    g,
    turned(layerNorm(g, turned(each), `${at}.depthwise_layer_norm`, norm)),
    c.hidden_act,
  );
  return turned(convolution(g, found, `${at}.pointwise_conv2`, { from: width, to: width, ...point }));
}

/** What letters are read off: the last states, or what adapters make of them. */
function scoredStates(g: GraphWriter, c: Config): Value {
  const { states, frames } = framesStates(g, c);
  const last = states.at(-1)!;
  if (!c.add_adapter) return last;
  const both = { state: last, read: last };
  const read = c.use_intermediate_ffn_before_adapter
    ? halfFed(g, both, `${base}intermediate_ffn`, { c, act: 'relu' })
    : last;
  return frameAdapter(g, read, c, { base, padding: frames.padding });
}

/** modeling_wav2vec2_bert.py */
/** A step is two frames of a spectrogram, a hundred of which are a second of 16,000 samples. */
const audioSteps = (c: Config): AudioNetwork => ({
  ...{ strides: [320], widths: [c.hidden_size], tensors: 3 },
  sizes: { hidden: c.hidden_size, intermediate: c.intermediate_size, heads: c.num_attention_heads },
});

export const wav2vec2Bert = defineFamily({
  modelTypes: ['wav2vec2-bert'],
  readers: { extractor: 'SeamlessM4T', audio: 'wav2vec2-bert' },
  memory: { audio: audioSteps },
  config,
  prefixes: [base],
  heads: {
    ctc: {
      model: (g, c: Config) => {
        const to = c.vocab_size;
        if (to == null) throw new GraphError('config.json: vocab_size is needed for letters');
        const logits = linear(g, scoredStates(g, c), 'lm_head', { from: adaptedWidth(c), to });
        g.output('logits', logits, 'float32', ['rows', 'frames', to]);
      },
    },
    'audio-classification': {
      model: (g, c: Config) => {
        refuseAdapters(c);
        const { states, frames } = framesStates(g, c);
        audioLabels(g, states, {
          ...{ width: c.hidden_size, projected: c.classifier_proj_size, labels: labelCount(c) },
          ...{ weighted: c.use_weighted_layer_sum, seen: frames.seen },
        });
      },
    },
  },
});
