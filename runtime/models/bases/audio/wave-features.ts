import { float } from '../../writer/attributes.js';
import { activation } from '../../layers/activation.js';
import { convolution, convolve } from '../../layers/convolution.js';
import { groupWidth } from '../../layers/head-sizes.js';
import { linear } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { normedWeight } from '../../layers/weight-norm.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { WaveStepsConfig } from './wave-config.js';

/** float32 [rows, channels, steps] <-> [rows, steps, channels] */
const turned = (g: GraphWriter, x: Value): Value => g.node('Transpose', [x], { perm: [0, 2, 1] });

/** Declares `input_values` and makes steps of the samples: float32 [rows, steps, width of the last convolution]. */
export function waveSteps(g: GraphWriter, c: WaveStepsConfig, base: string): Value {
  const samples = g.input('input_values', 'float32', ['rows', 'samples']);
  let x = g.node('Unsqueeze', [samples, g.ints([1])]);
  c.conv_dim.forEach((to, i) => {
    const at = `${base}feature_extractor.conv_layers.${i}`;
    const found = convolution(g, x, `${at}.conv`, {
      ...{ from: c.conv_dim[i - 1] ?? 1, to, bias: c.conv_bias },
      ...{ kernel: [c.conv_kernel[i]!], stride: [c.conv_stride[i]!] },
    });
    x = activation(g, normed(g, found, `${at}.layer_norm`, { c, layer: i }), c.feat_extract_activation);
  });
  return turned(g, x);
}

/** torch's default for norms. */
const EPSILON = 1e-5;

/** Norms stand behind every convolution, or behind the first one only, there over the time of each channel. */
function normed(
  g: GraphWriter,
  x: Value,
  name: string,
  { c, layer }: { c: WaveStepsConfig; layer: number },
): Value {
  const width = c.conv_dim[layer]!;
  if (c.feat_extract_norm === 'layer')
    return turned(g, layerNorm(g, turned(g, x), name, { width, epsilon: EPSILON }));
  if (layer > 0) return x;
  const parts = [g.weight(`${name}.weight`, [width]), g.weight(`${name}.bias`, [width])];
  return g.node('InstanceNormalization', [x, ...parts], { epsilon: float(EPSILON) });
}

/** Steps as wide as the encoder. */
export function waveProjection(
  g: GraphWriter,
  steps: Value,
  c: WaveStepsConfig,
  { base, norm = true }: { base: string; norm?: boolean },
): Value {
  const at = `${base}feature_projection`;
  const from = c.conv_dim.at(-1)!;
  const read = norm
    ? layerNorm(g, steps, `${at}.layer_norm`, { width: from, epsilon: c.layer_norm_eps })
    : steps;
  return linear(g, read, `${at}.projection`, { from, to: c.hidden_size });
}

/** Where steps lie, by a wide convolution over them, whose lengths are of each place of the kernel: float32 [rows, steps, width]. */
export function wavePositions(
  g: GraphWriter,
  steps: Value,
  c: WaveStepsConfig,
  { base, read = (x) => x }: { base: string; read?: (channels: Value) => Value },
): Value {
  const at = `${base}encoder.pos_conv_embed.conv`;
  const [width, kernel] = [c.hidden_size, c.num_conv_pos_embeddings];
  const groups = c.num_conv_pos_embedding_groups;
  const shape = [width, groupWidth(width, groups), kernel];
  const found = convolve(
    g,
    [read(turned(g, steps)), normedWeight(g, at, shape, 2), g.weight(`${at}.bias`, [width])],
    { kernel: [kernel], padding: [Math.floor(kernel / 2)], groups },
  );
  // An even kernel gives one step more.
  const kept = kernel % 2 === 0 ? g.node('Slice', [found, g.ints([0]), g.ints([-1]), g.ints([2])]) : found;
  return turned(g, activation(g, kept, c.feat_extract_activation));
}
