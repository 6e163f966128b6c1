import * as z from 'zod';
import type { AudioNetwork } from '../../core/network.js';
import { sourceDecoderRoles } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { equalHeads, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { named } from '../inert-fields.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { convolution } from '../layers/convolution.js';
import { linear } from '../layers/linear.js';
import { rotaryConfig } from '../layers/rope-frequencies.js';
import { distances } from '../layers/text-inputs.js';
import { float } from '../writer/attributes.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { type MoonshineDecoder, moonshineDecoder } from './moonshine.js';

/** Samples of a frame, to whole ones of which the processor fills up. */
const FRAME = 80;

const wholeHeads = [
  (c: { hidden_size: number; num_attention_heads: number; head_dim?: number | null | undefined }) =>
    c.head_dim == null || c.head_dim * c.num_attention_heads === c.hidden_size,
  { message: 'other than hidden_size over heads is not known', path: ['head_dim'] },
] satisfies [unknown, object];

const WINDOWS = [4, 4, 0, 0, 4, 4].map((ahead) => [16, ahead]);

const encoder = z
  .object({
    model_type: z.literal('moonshine_streaming_encoder').default('moonshine_streaming_encoder'),
    ...{ hidden_size: size.default(320), intermediate_size: size.default(1280) },
    ...{ hidden_act: z.string().default('gelu'), num_hidden_layers: layers.default(6) },
    ...{ num_attention_heads: size.default(8), num_key_value_heads: size.default(8) },
    ...{ head_dim: size.nullish(), attention_bias: z.boolean().default(false) },
    ...{ sample_rate: z.int().min(1).default(16_000), frame_ms: z.number().positive().default(5) },
    sliding_windows: z
      .array(z.array(z.int().min(0).max(65_536)).length(2))
      .max(1024)
      .default(WINDOWS),
  })
  .refine(...equalHeads)
  .refine(...wholeHeads)
  .refine((c) => Math.round((c.sample_rate * c.frame_ms) / 1000) === FRAME, {
    ...{ message: `frames of other than ${FRAME} samples are not known`, path: ['frame_ms'] },
  })
  .refine((c) => c.sliding_windows.length >= c.num_hidden_layers, {
    ...{ message: 'leaves out layers', path: ['sliding_windows'] },
  });
type Encoder = z.output<typeof encoder>;

const fields = z
  .object({
    ...rotaryConfig,
    max_position_embeddings: rotaryConfig.max_position_embeddings.default(4096),
    partial_rotary_factor: z.number().positive().max(1).default(0.8),
    encoder_config: encoder.prefault({}),
    ...{ vocab_size: size.default(32_768), hidden_size: size.default(320) },
    ...{ intermediate_size: size.default(1280), num_hidden_layers: layers.default(6) },
    ...{ num_attention_heads: size.default(8), num_key_value_heads: size.nullish() },
    ...{ head_dim: size.nullish(), hidden_act: z.string().default('silu') },
    ...{ attention_bias: z.boolean().default(false), tie_word_embeddings: z.boolean().default(false) },
  })
  .refine(...equalHeads)
  .refine(...wholeHeads);
type Config = z.output<typeof fields>;

/** The class takes a part of each head where a file says nothing of its positions, and all of it where it says no part. */
function withPart(given: object): object {
  return 'rope_theta' in given ? { partial_rotary_factor: 1, ...given } : given;
}
const config = z.preprocess((given) => withPart(given as object), fields);

/** Of norms without a setting. */
const EPSILON = 1e-5;
/** Added to the squares of a frame. */
const SILENCE = 1e-6;
/** Least float32, with which Python masks. */
const LEAST = -3.4028234663852886e38;

const at = (name: string) => `model.encoder.${name}`;

/** What is learned of a norm is its distance from one. */
function normed(g: GraphWriter, x: Value, name: string, { hidden_size: width }: Encoder): Value {
  const weight = g.node('Add', [g.weight(at(`${name}.gamma`), [width]), g.scalar(1)]);
  return g.node('LayerNormalization', [x, weight], { axis: -1, epsilon: float(EPSILON) });
}

/** Whole frames of samples and a silent one for what is left over, which the processor's mask covers: [rows, frames, samples]. */
function frames(g: GraphWriter): Value {
  const samples = g.input('input_values', 'float32', ['rows', 'samples']);
  const count = g.node('Shape', [samples], { start: 1, end: 2 });
  const rest = g.node('Mod', [count, g.ints([FRAME])]);
  const whole = g.node('Slice', [samples, g.ints([0]), g.node('Sub', [count, rest]), g.ints([1])]);
  const more = g.node('Mul', [g.node('Min', [rest, g.ints([1])]), g.ints([FRAME])]);
  const filled = g.node('Pad', [whole, g.node('Concat', [g.ints([0, 0, 0]), more], { axis: 0 })]);
  return g.node('Reshape', [filled, g.ints([0, -1, FRAME])]);
}

/** Steps of four frames, each frame with its own loudness taken from it: float32 [rows, steps, width]. */
function steps(g: GraphWriter, { hidden_size: width }: Encoder): Value {
  const given = frames(g);
  const mean = (x: Value) => g.node('ReduceMean', [x, g.ints([2])], { keepdims: 1 });
  const centred = g.node('Sub', [given, mean(given)]);
  const power = g.node('Add', [mean(g.node('Mul', [centred, centred])), g.scalar(SILENCE)]);
  const even = g.node('Div', [centred, g.node('Sqrt', [power])]);
  const slope = g.node('Exp', [g.weight(at('embedder.comp.log_k'), [])]);
  const narrow = g.node('Asinh', [g.node('Mul', [slope, even])]);
  const first = linear(g, narrow, at('embedder.linear'), { from: FRAME, to: width, bias: false });
  const turned = (x: Value) => g.node('Transpose', [x], { perm: [0, 2, 1] });
  const over = { kernel: [5], stride: [2], padding: { before: [4], behind: [0] } };
  const wide = convolution(g, turned(activation(g, first, 'silu')), at('embedder.conv1'), {
    ...{ from: width, to: 2 * width, ...over },
  });
  const found = convolution(g, activation(g, wide, 'silu'), at('embedder.conv2'), {
    ...{ from: 2 * width, to: width, ...over },
  });
  return turned(found);
}

/** Steps see so many steps up to themselves, and fewer than so many behind: float32 [1, 1, steps, steps], added to scores. */
function windowOf(g: GraphWriter, x: Value, [before, behind]: readonly number[]): Value {
  return g.once(`window ${before} ${behind}`, () => {
    const ahead = distances(g, x);
    const inLeft = g.node('Greater', [ahead, g.ints([-before!], [])]);
    const isPast = g.node('LessOrEqual', [ahead, g.ints([0], [])]);
    const isNext = g.node('And', [
      g.node('Greater', [ahead, g.ints([0], [])]),
      g.node('Less', [ahead, g.ints([behind!], [])]),
    ]);
    const seen = g.node('Or', [g.node('And', [isPast, inLeft]), isNext]);
    return g.node('Where', [g.node('Unsqueeze', [seen, g.ints([0, 1])]), g.scalar(0), g.scalar(LEAST)]);
  });
}

function writeLayer(g: GraphWriter, x: Value, c: Encoder, number: number): Value {
  const {
    hidden_size: width,
    intermediate_size: inner,
    num_attention_heads: heads,
    attention_bias: bias,
  } = c;
  const part = (name: string) => `layers.${number}.${name}`;
  const project = (read: Value, name: string) =>
    linear(g, read, at(part(`self_attn.${name}_proj`)), { from: width, to: width, bias });
  const read = normed(g, x, part('input_layernorm'), c);
  const triple = { query: project(read, 'q'), key: project(read, 'k'), value: project(read, 'v') };
  const window = windowOf(g, x, c.sliding_windows[number]!);
  const found = attention(g, triple, { heads, width, bias: window });
  const attended = g.node('Add', [x, project(found, 'o')]);
  const fed = normed(g, attended, part('post_attention_layernorm'), c);
  const wide = activation(g, linear(g, fed, at(part('mlp.fc1')), { from: width, to: inner }), c.hidden_act);
  return g.node('Add', [attended, linear(g, wide, at(part('mlp.fc2')), { from: inner, to: width })]);
}

/** What the decoder attends to: states with vectors of their positions, in its own width. */
function writeEncoder(
  g: GraphWriter,
  { encoder_config: c, hidden_size: to, max_position_embeddings }: Config,
) {
  const width = c.hidden_size;
  let x = steps(g, c);
  for (let i = 0; i < c.num_hidden_layers; i++) x = writeLayer(g, x, c, i);
  const count = g.node('Shape', [x], { start: 1, end: 2 });
  const table = g.weight('model.decoder.pos_emb.weight', [max_position_embeddings, width]);
  const positions = g.node('Slice', [table, g.ints([0]), count, g.ints([0])]);
  const placed = g.node('Add', [normed(g, x, 'final_norm', c), positions]);
  const states =
    width === to ? placed : linear(g, placed, 'model.decoder.proj', { from: width, to, bias: false });
  g.output('last_hidden_state', states, 'float32', ['rows', 'steps', to]);
}

const decoderOf = (c: Config): MoonshineDecoder => ({
  ...c,
  ...{ decoder_num_hidden_layers: c.num_hidden_layers, decoder_hidden_act: c.hidden_act },
  ...{ decoder_num_attention_heads: c.num_attention_heads },
  decoder_num_key_value_heads: c.num_key_value_heads,
});

/** Frames, which two convolutions halve. */
const audio = ({ encoder_config: c }: Config): AudioNetwork => ({
  ...{ strides: [FRAME, 2, 2], widths: [c.hidden_size, 2 * c.hidden_size, c.hidden_size], tensors: 3 },
  sizes: { hidden: c.hidden_size, intermediate: c.intermediate_size, heads: c.num_attention_heads },
});

/** Speech of any length up to its positions, without what comes much later. modeling_moonshine_streaming.py */
export const moonshineStreaming = defineFamily({
  modelTypes: ['moonshine_streaming'],
  readers: { audio: 'moonshine-streaming', positions: 'distance' },
  inert: [
    { fields: named('pad_head_dim_to_multiple_of'), reason: 'zeros that are cut off' },
    { fields: named('max_position_embeddings'), part: 'encoder_config', reason: 'read nowhere' },
  ],
  memory: { audio },
  limits: ['A recording is transcribed whole, not as it is spoken; it ends with the positions (82 seconds).'],
  usualTask: 'automatic-speech-recognition',
  config,
  prefixes: ['model.'],
  heads: {
    'speech-seq2seq': {
      encoder_model: writeEncoder,
      ...sourceDecoderRoles((c: Config) => moonshineDecoder(decoderOf(c))),
    },
  },
});
