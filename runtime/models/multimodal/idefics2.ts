import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { epsilon, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { headGroup } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { rmsNorm } from '../layers/norm.js';
import { imageInput } from '../layers/patch-embed.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { CONNECTED, cutImages, seenPatches, visionConfig } from './idefics3.js';
import { languageModel } from './language-model.js';

const resampler = z.object({
  hidden_act: z.string().default('silu'),
  hidden_size: size.default(4096),
  rms_norm_eps: epsilon.default(1e-6),
  resampler_n_latents: size.default(64),
  resampler_depth: layers.default(3),
  resampler_n_heads: size.default(16),
  resampler_head_dim: size.default(96),
  num_key_value_heads: size.default(4),
});

/** What the connector reads of the language model's fields. */
const reader = z.object({
  model_type: z.literal('mistral', 'this class is known before Mistral alone').default('mistral'),
  intermediate_size: size.default(14_336),
  hidden_act: z.string().default('silu'),
  rms_norm_eps: epsilon.default(1e-6),
});

const fields = z
  .object({
    text_config: languageModel('mistral'),
    reader,
    vision_config: visionConfig
      .extend({ hidden_size: size.default(768), num_attention_heads: size.default(12) })
      .prefault({}),
    perceiver_config: resampler.prefault({}),
  })
  // Python takes the width of the language model where it is another one, and its epsilon with it.
  .transform(({ perceiver_config: c, text_config: text, reader, ...rest }) => ({
    ...{ ...rest, reader, text_config: text },
    perceiver_config: { ...c, epsilon: c.hidden_size === text.width ? c.rms_norm_eps : reader.rms_norm_eps },
  }));
type Config = z.output<typeof fields>;

/** Of a language model that is left out. */
const ABSENT = { rms_norm_eps: 1e-5 };

const config = z.preprocess(
  (given) => ({ ...(given as object), reader: (given as { text_config?: unknown }).text_config ?? ABSENT }),
  fields,
);

const BASE = 'connector.perceiver_resampler';

/** Heads of keys as often as those of queries share them: float32 [rows, tokens, heads · width]. */
function repeated(g: GraphWriter, x: Value, { heads, keyHeads, width }: Heads): Value {
  const group = headGroup(heads, keyHeads);
  if (group === 1) return x;
  const apart = g.node('Reshape', [x, g.ints([0, 0, keyHeads, 1, width])]);
  const wide = g.node('Expand', [apart, g.ints([1, 1, 1, group, 1])]);
  return g.node('Reshape', [wide, g.ints([0, 0, heads * width])]);
}

interface Heads {
  heads: number;
  keyHeads: number;
  width: number;
}

/** Learned vectors read an image's states and each other: float32 [rows, latents, width]. */
function layer(g: GraphWriter, x: Value, { states, at, c, to }: Layer): Value {
  const size = { width: to, epsilon: c.epsilon };
  const counts = { heads: c.resampler_n_heads, keyHeads: c.num_key_value_heads, width: c.resampler_head_dim };
  const normed = rmsNorm(g, x, at('input_latents_norm'), size);
  const context = rmsNorm(g, states, at('input_context_norm'), size);
  const read = g.node('Concat', [context, normed], { axis: 1 });
  const project = (of: Value, name: string, count: number) =>
    linear(g, of, at(`self_attn.${name}_proj`), { from: to, to: count * counts.width, bias: false });
  const all = counts.heads * counts.width;
  const attended = attention(
    g,
    {
      query: project(normed, 'q', counts.heads),
      key: repeated(g, project(read, 'k', counts.keyHeads), counts),
      value: repeated(g, project(read, 'v', counts.keyHeads), counts),
    },
    { heads: counts.heads, width: all },
  );
  const output = linear(g, attended, at('self_attn.o_proj'), { from: all, to, bias: false });
  const middle = g.node('Add', [x, output]);
  const fed = rmsNorm(g, middle, at('post_attention_layernorm'), size);
  const wide = { width: to, inner: 4 * to, act: c.hidden_act };
  return g.node('Add', [middle, gatedFeedForward(g, fed, (name) => at(`mlp.${name}`), wide)]);
}

interface Layer {
  states: Value;
  at: (name: string) => string;
  c: Config['perceiver_config'];
  /** Width of the language model. */
  to: number;
}

/** float32 [rows, latents, width] */
function resampled(g: GraphWriter, states: Value, { perceiver_config: c, text_config: text }: Config): Value {
  const to = text.width;
  const latents = g.weight(`${BASE}.latents`, [c.resampler_n_latents, to]);
  const rows = g.node('Shape', [states], { start: 0, end: 1 });
  const shape = g.node('Concat', [rows, g.ints([1, 1])], { axis: 0 });
  let x = g.node('Expand', [latents, shape]);
  for (let i = 0; i < c.resampler_depth; i++)
    x = layer(g, x, { states, c, to, at: (name) => `${BASE}.layers.${i}.${name}` });
  return rmsNorm(g, x, `${BASE}.norm`, { width: to, epsilon: c.epsilon });
}

function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: vision, text_config: text, reader } = c;
  const found = cutImages(g, imageInput(g, vision.num_channels), vision);
  const states = seenPatches(g, found, vision);
  const at = (name: string) => `connector.modality_projection.${name}`;
  const { hidden_size: from } = vision;
  const [gate, up] = ['gate_proj', 'up_proj'].map((name) =>
    linear(g, states, at(name), { from, to: reader.intermediate_size, bias: false }),
  ) as [Value, Value];
  const product = g.node('Mul', [activation(g, gate, reader.hidden_act), up]);
  const down = { from: reader.intermediate_size, to: text.width, bias: false };
  const features = resampled(g, linear(g, product, at('down_proj'), down), c);
  g.output('image_features', features, 'float32', ['rows', 'features', text.width]);
}

/** Images of any form, of which learned vectors take a few features, before Mistral. modeling_idefics2.py */
export const idefics2 = defineFamily({
  modelTypes: ['idefics2'],
  readers: { prompts: { image: 'idefics2' } },
  memory: {
    unmaskedVision: true,
    visionInner: ({ vision_config: c, reader }: Config) =>
      Math.max(c.intermediate_size, reader.intermediate_size),
  },
  usualTask: 'image-text-to-text',
  limits: ['Places of patches and spaces behind images are those of transformers 4.57; 5 has others.'],
  config,
  prefixes: [],
  parts: CONNECTED,
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
