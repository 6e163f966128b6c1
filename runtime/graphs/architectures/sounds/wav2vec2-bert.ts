import { z } from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { activation } from '../../blocks/activation.js';
import { attention } from '../../blocks/attention.js';
import { clippedDistanceBias } from '../../blocks/clipped-distances.js';
import { convolution, convolve } from '../../blocks/convolution.js';
import { linear } from '../../blocks/linear.js';
import { layerNorm } from '../../blocks/norm.js';
import { GraphError } from '../../errors.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { ELEMENTS } from '../../tensors.js';
import { epsilon, labelCount, labels, layers, size } from '../config.js';
import { soundLabels } from './sound-labels.js';

const reach = z.int().min(0).max(65536);

const config = z.object({
  ...labels,
  ...{ vocab_size: size.nullish(), hidden_size: size.default(1024), num_hidden_layers: layers.default(24) },
  ...{ num_attention_heads: size.default(16), intermediate_size: size.default(4096) },
  feature_projection_input_dim: size.default(160),
  ...{ hidden_act: z.string().default('swish'), layer_norm_eps: epsilon.default(1e-5) },
  position_embeddings_type: z
    .literal('relative_key', 'positions other than relative_key are not known')
    .nullable()
    .default('relative_key'),
  ...{ left_max_position_embeddings: reach.default(64), right_max_position_embeddings: reach.default(8) },
  conv_depthwise_kernel_size: z.int().min(1).max(65536).default(31),
  ...{ use_weighted_layer_sum: z.boolean().default(false), classifier_proj_size: size.default(768) },
  // Adapters behind the encoder make steps of other lengths.
  add_adapter: z.literal(false, 'adapters behind the encoder are not known').default(false),
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
    const size = { from: c.hidden_size, to: c.intermediate_size };
    const wide = activation(g, linear(g, read, `${at}.${name}.intermediate_dense`, size), c.hidden_act);
    const found = linear(g, wide, `${at}.${name}.output_dense`, { from: size.to, to: size.from });
    return g.node('Add', [g.node('Mul', [found, g.scalar(0.5)]), state]);
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

function attend(g: GraphWriter, x: Value, { padding }: Frames, { at, c }: Layer): Value {
  const [width, heads] = [c.hidden_size, c.num_attention_heads];
  const project = (read: Value, name: string) =>
    linear(g, read, `${at}.linear_${name}`, { from: width, to: width });
  const query = project(x, 'q');
  const [before, behind] = [c.left_max_position_embeddings, c.right_max_position_embeddings];
  const bias =
    c.position_embeddings_type === null
      ? undefined
      : clippedDistanceBias(g, query, `${at}.distance_embedding.weight`, { heads, width, before, behind });
  const projected = { query, key: project(x, 'k'), value: project(x, 'v') };
  return project(attention(g, projected, { heads, width, padding, bias }), 'out');
}

/** Gates, a convolution of each channel over the frames before, and one over all channels. */
function convolve1d(g: GraphWriter, x: Value, { seen }: Frames, { at, c }: Layer): Value {
  const [width, kernel] = [c.hidden_size, c.conv_depthwise_kernel_size];
  const norm = { width, epsilon: c.layer_norm_eps };
  const turned = (value: Value) => g.node('Transpose', [value], { perm: [0, 2, 1] });
  const read = turned(g.node('Mul', [layerNorm(g, x, `${at}.layer_norm`, norm), seen]));
  const point = { kernel: [1], bias: false };
  const both = convolution(g, read, `${at}.pointwise_conv1`, { from: width, to: 2 * width, ...point });
  const [value, gate] = g.nodes('Split', [both, g.ints([width, width])], {
    ...{ outputs: 2, attributes: { axis: 1 } },
  }) as [Value, Value];
  const gated = g.node('Mul', [value, g.node('Sigmoid', [gate])]);
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

/** modeling_wav2vec2_bert.py */
export const wav2vec2Bert = defineArchitecture({
  modelTypes: ['wav2vec2-bert'],
  config,
  prefixes: [base],
  heads: {
    ctc: {
      model: (g, c: Config) => {
        const { states } = framesStates(g, c);
        const to = c.vocab_size;
        if (to == null) throw new GraphError('config.json: vocab_size is needed for letters');
        const logits = linear(g, states.at(-1)!, 'lm_head', { from: c.hidden_size, to });
        g.output('logits', logits, 'float32', ['rows', 'frames', to]);
      },
    },
    'audio-classification': {
      model: (g, c: Config) => {
        const { states, frames } = framesStates(g, c);
        soundLabels(g, states, {
          ...{ width: c.hidden_size, projected: c.classifier_proj_size, labels: labelCount(c) },
          ...{ weighted: c.use_weighted_layer_sum, seen: frames.seen },
        });
      },
    },
  },
});
