import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { epsilon, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { named } from '../inert-fields.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { convolution } from '../layers/convolution.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { sinusoids } from '../layers/sinusoids.js';
import { positionsOf } from '../layers/text-inputs.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { wholeLanguageModel, TOWER_PARTS, withTie } from './language-model.js';
import { projected } from './projector.js';

const few = z.int().min(1).max(4096);

const blocks = {
  ...{ hidden_size: size.default(512), intermediate_size: size.default(2048) },
  ...{ num_hidden_layers: layers.default(70), num_attention_heads: size.default(4) },
  ...{ layer_norm_eps: epsilon.default(1e-5), hidden_act: z.string().default('relu') },
};

const encoder = z.object({
  ...blocks,
  model_type: z.literal('fun_asr_nano_encoder').default('fun_asr_nano_encoder'),
  ...{ num_mel_bins: size.default(80), num_stacked_frames: few.default(7) },
  num_timestamp_prediction_layers: layers.default(20),
  fsmn_kernel_size: few.default(11),
});
type Encoder = z.output<typeof encoder>;

const adaptor = z.object({
  ...{ hidden_size: size.default(1024), intermediate_size: size.default(256) },
  ...{ num_hidden_layers: layers.default(2), num_attention_heads: size.default(8) },
  ...{ layer_norm_eps: blocks.layer_norm_eps, hidden_act: blocks.hidden_act },
  ...{ projector_hidden_act: z.string().default('relu'), projector_hidden_size: size.default(2048) },
});
type Blocks = Omit<z.output<typeof adaptor>, `projector_${string}`>;

/** What Python's class takes for a language model that is left out. */
const TEXT = {
  ...{ hidden_size: 1024, intermediate_size: 3072, num_hidden_layers: 28, num_attention_heads: 16 },
  ...{ num_key_value_heads: 8, max_position_embeddings: 40_960 },
};

const withText = (given: Readonly<Record<string, unknown>>): object => ({
  ...given,
  text_config: given['text_config'] ?? TEXT,
});

const fields = z.object({
  text_config: wholeLanguageModel('qwen3'),
  audio_config: encoder.prefault({}),
  adaptor_config: adaptor.prefault({}),
});
const config = z.preprocess((given) => withTie(withText(given as Record<string, unknown>)), fields);
type Config = z.output<typeof fields>;

const at = (name: string) => `audio_tower.${name}`;

/** Width of what the first layer reads. */
const stepWidth = (c: Encoder): number => c.num_mel_bins * c.num_stacked_frames;

/** Steps with their positions, which count from one: float32 [1, steps, width]. */
function placed(g: GraphWriter, c: Encoder): Value {
  const width = stepWidth(c);
  if (width < 4) throw new GraphError('config.json: audio_config has steps without positions');
  const features = g.input('input_features', 'float32', [1, 'steps', width]);
  const scaled = g.node('Mul', [features, g.scalar(Math.sqrt(c.hidden_size))]);
  const numbers = g.node('Add', [positionsOf(g, features), g.ints([1], [])]);
  const slower = Math.log(10_000) / (width / 2 - 1);
  return g.node('Add', [scaled, sinusoids(g, numbers, width, (i) => Math.exp(-slower * i))]);
}

interface Layer {
  at(name: string): string;
  /** Of what it reads. */
  from: number;
  /** Steps around a step whose values are added to what it sees; absent where there is none. */
  kernel?: number;
}

/** What a convolution of each channel over the steps around finds, and the values themselves (FSMN). */
function remembered(g: GraphWriter, values: Value, name: string, [width, kernel]: readonly [number, number]) {
  const turned = (x: Value) => g.node('Transpose', [x], { perm: [0, 2, 1] });
  const before = Math.floor((kernel - 1) / 2);
  const found = convolution(g, turned(values), name, {
    ...{ from: width, to: width, kernel: [kernel], groups: width, bias: false },
    padding: { before: [before], behind: [kernel - 1 - before] },
  });
  return g.node('Add', [turned(found), values]);
}

function writeLayer(g: GraphWriter, x: Value, c: Blocks, layer: Layer): Value {
  const { hidden_size: width, intermediate_size: inner } = c;
  const norm = (value: Value, name: string, wide: number) =>
    layerNorm(g, value, layer.at(name), { width: wide, epsilon: c.layer_norm_eps });
  const read = norm(x, 'input_layernorm', layer.from);
  const project = (value: Value, name: string, from: number) =>
    linear(g, value, layer.at(`self_attn.${name}_proj`), { from, to: width });
  const value = project(read, 'v', layer.from);
  const triple = { query: project(read, 'q', layer.from), key: project(read, 'k', layer.from), value };
  const seen = project(attention(g, triple, { heads: c.num_attention_heads, width }), 'o', width);
  const memory = layer.kernel && remembered(g, value, layer.at('self_attn.fsmn.conv'), [width, layer.kernel]);
  const attended = memory ? g.node('Add', [seen, memory]) : seen;
  // The first layer of another width has nothing to add to.
  const first = layer.from === width ? g.node('Add', [x, attended]) : attended;
  const fed = norm(first, 'post_attention_layernorm', width);
  const wide = activation(g, linear(g, fed, layer.at('mlp.fc1'), { from: width, to: inner }), c.hidden_act);
  return g.node('Add', [first, linear(g, wide, layer.at('mlp.fc2'), { from: inner, to: width })]);
}

function states(g: GraphWriter, c: Encoder): Value {
  const count = c.num_hidden_layers;
  const normed = [count - c.num_timestamp_prediction_layers - 1, count - 1];
  let x = placed(g, c);
  for (let i = 0; i < count; i++) {
    const layer = (name: string) => at(`layers.${i}.${name}`);
    const from = i === 0 ? stepWidth(c) : c.hidden_size;
    x = writeLayer(g, x, c, { at: layer, from, kernel: c.fsmn_kernel_size });
    const norm = { width: c.hidden_size, epsilon: c.layer_norm_eps };
    if (normed.includes(i)) x = layerNorm(g, x, layer('final_layernorm'), norm);
  }
  return x;
}

/** `audio_features` [features, width] of an audio clip: one for each step. */
function writeEncoder(g: GraphWriter, { audio_config: c, adaptor_config: own, text_config: text }: Config) {
  const { hidden_size: width } = own;
  if (width !== text.width || own.intermediate_size !== Math.floor(width / 4))
    throw new GraphError(
      'config.json: adaptor_config has other widths than text_config (hidden_size, and a fourth of it)',
    );
  if (c.num_hidden_layers === 0) throw new GraphError('config.json: audio_config has no layers');
  const sizes = { from: c.hidden_size, inner: own.projector_hidden_size, to: width, bias: true };
  let x = projected(g, states(g, c), { ...sizes, act: own.projector_hidden_act });
  for (let i = 0; i < own.num_hidden_layers; i++)
    x = writeLayer(g, x, own, { at: (name) => `multi_modal_projector.layers.${i}.${name}`, from: width });
  const features = g.node('Squeeze', [x, g.ints([0])]);
  g.output('audio_features', features, 'float32', ['features', width]);
}

/** A language model that reads audio clips through SenseVoice's encoder. modeling_fun_asr_nano.py */
export const funAsrNano = defineFamily({
  modelTypes: ['fun_asr_nano'],
  readers: { prompts: { audio: 'fun-asr-nano' } },
  usualTask: 'audio-text-to-text',
  limits: ['A conversation holds one recording, as in Python, of about two minutes at most.'],
  inert: [
    {
      fields: named('max_position_embeddings'),
      part: 'audio_config',
      reason: 'the server bounds clips by it',
    },
  ],
  config,
  prefixes: [],
  parts: TOWER_PARTS,
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      audio_encoder: writeEncoder,
    },
  },
});
