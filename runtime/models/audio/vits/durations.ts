import { convolution } from '../../layers/convolution.js';
import { inverseSpline } from '../../layers/rational-spline.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { VitsConfig } from './config.js';
import { channelNorm } from './text-encoder.js';
import { ofVoice, type VitsVoice } from './voice.js';

const base = 'duration_predictor.';
/** torch's default for norms. */
const EPSILON = 1e-5;

/**
 * Logarithms of how many frames letters last: float32 [1, 1, letters], for states [1, hidden_size, letters].
 */
export function logDurations(
  g: GraphWriter,
  states: Value,
  voice: VitsVoice | undefined,
  c: VitsConfig,
): Value {
  return c.use_stochastic_duration_prediction ? drawn(g, states, voice, c) : predicted(g, states, voice, c);
}

function predicted(g: GraphWriter, states: Value, voice: VitsVoice | undefined, c: VitsConfig): Value {
  const [width, inner] = [c.hidden_size, c.duration_predictor_filter_channels];
  const kernel = c.duration_predictor_kernel_size;
  let x = withVoice(g, states, voice, c);
  [width, inner].forEach((from, i) => {
    const size = { from, to: inner, kernel: [kernel], padding: [(kernel - 1) / 2] };
    const found = g.node('Relu', [convolution(g, x, `${base}conv_${i + 1}`, size)]);
    x = channelNorm(g, found, `${base}norm_${i + 1}`, { width: inner, epsilon: c.layer_norm_eps });
  });
  return convolution(g, x, `${base}proj`, { from: inner, to: 1, kernel: [1] });
}

function withVoice(g: GraphWriter, x: Value, voice: VitsVoice | undefined, c: VitsConfig): Value {
  if (voice === undefined) return x;
  const size = { from: c.speaker_embedding_size, to: c.hidden_size, kernel: [1] };
  const added = ofVoice(g, voice, (vector) => convolution(g, vector, `${base}cond`, size));
  return g.node('Add', [x, added]);
}

/** Flows turn noise into durations, in the reverse of the order that they were trained in. */
function drawn(g: GraphWriter, states: Value, voice: VitsVoice | undefined, c: VitsConfig): Value {
  const square = { from: c.hidden_size, to: c.hidden_size, kernel: [1] };
  const read = withVoice(g, convolution(g, states, `${base}conv_pre`, square), voice, c);
  const known = convolution(g, separable(g, read, `${base}conv_dds`, c), `${base}conv_proj`, square);
  const noise = g.input('duration_noise', 'float32', [1, 2, 'letters']);
  let latents = g.node('Mul', [noise, g.scalar(c.noise_scale_duration)]);
  // The first of the flows behind the affine one is left out, as Python does.
  for (let i = c.duration_predictor_num_flows; i > 1; i--)
    latents = flow(g, swapped(g, latents), known, { at: `${base}flows.${i}`, c });
  const [moved, scale] = ['translate', 'log_scale'].map((name) => g.weight(`${base}flows.0.${name}`, [2, 1]));
  const factor = g.node('Exp', [g.node('Neg', [scale!])]);
  return halves(g, g.node('Mul', [g.node('Sub', [swapped(g, latents), moved!]), factor]))[0];
}

const swapped = (g: GraphWriter, x: Value): Value => g.node('Gather', [x, g.ints([1, 0])], { axis: 1 });

const halves = (g: GraphWriter, x: Value): [Value, Value] =>
  g.nodes('Split', [x, g.ints([1, 1])], { outputs: 2, attributes: { axis: 1 } }) as [Value, Value];

/** The second channel, along a curve that the first one and the text give. */
function flow(g: GraphWriter, latents: Value, known: Value, { at, c }: { at: string; c: VitsConfig }): Value {
  const [width, bins] = [c.hidden_size, c.duration_predictor_flow_bins];
  const [first, second] = halves(g, latents);
  const read = g.node('Add', [
    convolution(g, first, `${at}.conv_pre`, { from: 1, to: width, kernel: [1] }),
    known,
  ]);
  const numbers = { from: width, to: 3 * bins - 1, kernel: [1] };
  const learned = convolution(g, separable(g, read, `${at}.conv_dds`, c), `${at}.conv_proj`, numbers);
  const points = g.node('Transpose', [g.node('Squeeze', [learned, g.ints([0])])], { perm: [1, 0] });
  const [widths, heights, slopes] = g.nodes('Split', [points, g.ints([bins, bins, bins - 1])], {
    ...{ outputs: 3, attributes: { axis: 1 } },
  }) as [Value, Value, Value];
  const scaled = (x: Value) => g.node('Div', [x, g.scalar(Math.sqrt(width))]);
  const found = inverseSpline(
    g,
    g.node('Reshape', [second, g.ints([-1, 1])]),
    { widths: scaled(widths), heights: scaled(heights), slopes },
    { bins, bound: c.duration_predictor_tail_bound },
  );
  return g.node('Concat', [first, g.node('Reshape', [found, g.ints([1, 1, -1])])], { axis: 1 });
}

/** Convolutions of each channel that reach ever further, with one over all channels behind each. */
function separable(g: GraphWriter, x: Value, at: string, c: VitsConfig): Value {
  const [width, kernel] = [c.hidden_size, c.duration_predictor_kernel_size];
  const norm = { width, epsilon: EPSILON };
  for (let i = 0; i < c.depth_separable_num_layers; i++) {
    const dilation = kernel ** i;
    const far = convolution(g, x, `${at}.convs_dilated.${i}`, {
      ...{ from: width, to: width, kernel: [kernel], groups: width },
      ...{ dilation: [dilation], padding: [(dilation * (kernel - 1)) / 2] },
    });
    const read = g.node('Gelu', [channelNorm(g, far, `${at}.norms_1.${i}`, norm)]);
    const mixed = convolution(g, read, `${at}.convs_pointwise.${i}`, { from: width, to: width, kernel: [1] });
    x = g.node('Add', [x, g.node('Gelu', [channelNorm(g, mixed, `${at}.norms_2.${i}`, norm)])]);
  }
  return x;
}
