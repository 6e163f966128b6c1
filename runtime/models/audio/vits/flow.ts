import { convolution, convolve } from '../../layers/convolution.js';
import { normedWeight } from '../../layers/weight-norm.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { VitsConfig } from './config.js';
import { ofVoice, type VitsVoice } from './voice.js';

/** Latents of speech of those of text: float32 [1, flow_size, frames] of both. */
export function speechLatents(
  g: GraphWriter,
  latents: Value,
  voice: VitsVoice | undefined,
  c: VitsConfig,
): Value {
  const [width, half] = [c.hidden_size, c.flow_size / 2];
  for (let i = c.prior_encoder_num_flows - 1; i >= 0; i--) {
    const at = `flow.flows.${i}`;
    const [first, second] = g.nodes('Split', [flipped(g, latents), g.ints([half, half])], {
      ...{ outputs: 2, attributes: { axis: 1 } },
    }) as [Value, Value];
    const read = convolution(g, first, `${at}.conv_pre`, { from: half, to: width, kernel: [1] });
    const found = waveNet(g, read, voice, { at: `${at}.wavenet`, c });
    const mean = convolution(g, found, `${at}.conv_post`, { from: width, to: half, kernel: [1] });
    latents = g.node('Concat', [first, g.node('Sub', [second, mean])], { axis: 1 });
  }
  return latents;
}

/** Channels in the reverse order. */
const flipped = (g: GraphWriter, x: Value): Value =>
  g.node('Slice', [x, g.ints([-1]), g.ints([Number.MIN_SAFE_INTEGER]), g.ints([1]), g.ints([-1])]);

/** Gated convolutions that reach ever further; what each adds up is given. */
function waveNet(
  g: GraphWriter,
  x: Value,
  voice: VitsVoice | undefined,
  { at, c }: { at: string; c: VitsConfig },
): Value {
  const [width, count, kernel] = [
    ...[c.hidden_size, c.prior_encoder_num_wavenet_layers, c.wavenet_kernel_size],
  ] as [number, number, number];
  const normed = (read: Value, name: string, size: { from: number; to: number; reach?: number }) => {
    const [length, dilation] = size.reach === undefined ? [1, 1] : [kernel, size.reach];
    const weight = normedWeight(g, `${at}.${name}`, [size.to, size.from, length]);
    return convolve(g, [read, weight, g.weight(`${at}.${name}.bias`, [size.to])], {
      ...{ kernel: [length], dilation: [dilation], padding: [(dilation * (length - 1)) / 2] },
    });
  };
  const halves = (read: Value) =>
    g.nodes('Split', [read, g.ints([width, width])], { outputs: 2, attributes: { axis: 1 } }) as [
      ...[Value, Value],
    ];
  const added =
    voice &&
    ofVoice(g, voice, (vector) =>
      normed(vector, 'cond_layer', { from: c.speaker_embedding_size, to: 2 * width * count }),
    );
  const sums: Value[] = [];
  for (let i = 0; i < count; i++) {
    const reach = c.wavenet_dilation_rate ** i;
    const found = normed(x, `in_layers.${i}`, { from: width, to: 2 * width, reach });
    const moved = added ? g.node('Add', [found, voicePart(g, added, i, 2 * width)]) : found;
    const [a, b] = halves(moved);
    const gated = g.node('Mul', [g.node('Tanh', [a]), g.node('Sigmoid', [b])]);
    const isLast = i === count - 1;
    const given = normed(gated, `res_skip_layers.${i}`, { from: width, to: isLast ? width : 2 * width });
    if (isLast) return [...sums, given].reduce((one, other) => g.node('Add', [one, other]));
    const [kept, sum] = halves(given);
    x = g.node('Add', [x, kept]);
    sums.push(sum);
  }
  return x;
}

const voicePart = (g: GraphWriter, added: Value, i: number, width: number): Value =>
  g.node('Slice', [added, g.ints([i * width]), g.ints([(i + 1) * width]), g.ints([1])]);
