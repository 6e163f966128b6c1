import * as z from 'zod';
import { embeddedDecoderRoles } from '../../bases/decoder/decoder-heads.js';
import { channels } from '../../bases/vision/vit-config.js';
import { epsilon, layers, size } from '../../config-fields.js';
import { defineFamily } from '../../family.js';
import { named } from '../../inert-fields.js';
import { activation } from '../../layers/activation.js';
import { convolution } from '../../layers/convolution.js';
import { linear } from '../../layers/linear.js';
import { rmsNorm } from '../../layers/norm.js';
import { imageInput, imageOf, patches, resizedTable, tokensOf } from '../../layers/patch-embed.js';
import { preNormLayer, type PreNormNames } from '../../layers/pre-norm-layer.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { layerEndings } from '../../writer/weights.js';
import { hunyuanDecoder, sectionsOf, textConfig } from './decoder.js';

const small = z.int().min(1).max(256);

const vision = z.object({
  ...{ hidden_size: size.default(1152), intermediate_size: size.default(4304), num_channels: channels },
  ...{ num_hidden_layers: layers.default(27), num_attention_heads: size.default(16) },
  ...{
    patch_size: small.default(16),
    spatial_merge_size: small.default(2),
    max_image_size: size.default(2048),
  },
  ...{ hidden_act: z.string().default('gelu'), rms_norm_eps: epsilon.default(1e-5) },
  interpolate_mode: z.literal('bilinear').default('bilinear'),
});
type Vision = z.output<typeof vision>;

/** Files of the makers have the fields of the text beside those of the images; scores have a table of their own where both say so. */
const config = z.preprocess(
  (given) => {
    const { text_config: inner, ...flat } = given as Readonly<Record<string, unknown>>;
    const text = (inner ?? flat) as Readonly<Record<string, unknown>>;
    const tie =
      (flat['tie_word_embeddings'] ?? true) !== false || (text['tie_word_embeddings'] ?? true) !== false;
    return { text_config: { ...text, tie_word_embeddings: tie }, vision_config: flat['vision_config'] ?? {} };
  },
  z.object({ text_config: textConfig, vision_config: vision }),
);
type Config = z.output<typeof config>;

const BASE = 'vision_tower';

const NAMES: PreNormNames = {
  ...{ attentionNorm: 'layer_norm1', norm: 'layer_norm2', wide: 'mlp.fc1', narrow: 'mlp.fc2' },
  ...{ query: 'self_attn.q_proj', key: 'self_attn.k_proj', value: 'self_attn.v_proj' },
  output: 'self_attn.o_proj',
};

/** Names in files of the makers. */
const FORMER = layerEndings({
  ...{ 'mlp.fc1': 'mlp.dense_h_to_4h', 'mlp.fc2': 'mlp.dense_4h_to_h' },
  ...{ layer_norm1: 'input_layernorm', layer_norm2: 'post_attention_layernorm' },
  ...{ proj_conv: 'proj.0', proj_out: 'proj.2' },
});

/** Patches and their positions in a table that is resized to their grid. */
function embedded(g: GraphWriter, c: Vision): { tokens: Value; grid: Value } {
  const { hidden_size: width, patch_size: edge } = c;
  const at = (name: string) => `${BASE}.embeddings.${name}`;
  const found = patches(g, imageInput(g, c.num_channels), at('patch_embedding'), {
    ...{ channels: c.num_channels, width, patch: [edge, edge] },
  });
  const side = Math.floor(c.max_image_size / edge);
  const whole = g.weight(at('position_embedding.weight'), [side * side + 1, width]);
  // The first position is that of a class, which no image has.
  const table = g.node('Slice', [whole, g.ints([1]), g.ints([2 ** 53]), g.ints([0])]);
  const line = g.node('Unsqueeze', [table, g.ints([0])]);
  const placed = resizedTable(g, line, { from: [side, side], to: found.grid, width, mode: 'linear' });
  return { tokens: g.node('Add', [found.tokens, placed]), grid: found.grid };
}

/** Neighbours as one, a learned vector behind each line, and one at both ends: float32 [1, features, width of the text]. */
function merged(g: GraphWriter, x: Value, { grid, to, c }: { grid: Value; to: number; c: Vision }): Value {
  const { hidden_size: width, spatial_merge_size: merge, rms_norm_eps: own } = c;
  const at = (name: string) => `${BASE}.patch_merger.${name}`;
  const normed = imageOf(g, rmsNorm(g, x, at('before_rms'), { width, epsilon: own }), grid);
  const joined = convolution(g, normed, at('proj_conv'), {
    ...{ from: width, to: 2 * width, kernel: [merge, merge], stride: [merge, merge] },
  });
  const inner = 4 * width;
  const wide = convolution(g, activation(g, joined, c.hidden_act), at('proj_out'), {
    ...{ from: 2 * width, to: inner, kernel: [1, 1] },
  });
  const lines = g.node('Shape', [wide], { start: 2, end: 3 });
  const shape = g.node('Concat', [g.ints([1, inner]), lines, g.ints([1])], { axis: 0 });
  const learned = (name: string, count: number, dims: number[]) =>
    g.node('Reshape', [g.weight(at(name), [count]), g.ints(dims)]);
  const ends = g.node('Expand', [learned('image_newline', inner, [1, inner, 1, 1]), shape]);
  const cells = tokensOf(g, g.node('Concat', [wide, ends], { axis: 3 }));
  const features = linear(g, cells, at('mlp'), { from: inner, to });
  const [begin, end] = ['image_begin', 'image_end'].map((name) => learned(name, to, [1, 1, to])) as [
    ...[Value, Value],
  ];
  const all = g.node('Concat', [begin, features, end], { axis: 1 });
  return rmsNorm(g, all, at('after_rms'), { width: to, epsilon: own });
}

function writeEncoder(g: GraphWriter, { vision_config: c, text_config: text }: Config): void {
  const { hidden_size: width, intermediate_size: inner, num_attention_heads: heads, hidden_act: act } = c;
  const { tokens, grid } = embedded(g, c);
  let x = tokens;
  for (let layer = 0; layer < c.num_hidden_layers; layer++)
    x = preNormLayer(g, x, {
      ...{ width, inner, heads, act, epsilon: c.rms_norm_eps, names: NAMES },
      at: (name) => `${BASE}.layers.${layer}.${name}`,
    });
  g.output('image_features', merged(g, x, { grid, to: text.hidden_size, c }), 'float32', [
    'rows',
    'features',
    text.hidden_size,
  ]);
}

/** HunyuanOCR: images of any size before HunYuan's dense decoder, with positions on several axes. modeling_hunyuan_vl.py */
export const hunyuanVl = defineFamily({
  modelTypes: ['hunyuan_vl'],
  readers: { prompts: { image: 'hunyuan-vl' } },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: {
    'model.': ['model.language_model.', 'model.'],
    [`${BASE}.patch_merger.`]: [`model.${BASE}.patch_merger.`, 'vit.perceive.', 'model.vit.perceive.'],
    [`${BASE}.`]: [`model.${BASE}.`, 'vit.', 'model.vit.'],
  },
  older: FORMER,
  inert: [
    {
      fields: named('im_start_id', 'im_end_id', 'im_newline_id'),
      reason: 'prompts have the tokens that the tokenizer names',
    },
    {
      fields: named('num_key_value_heads', 'temporal_patch_size', 'text_hidden_size', 'out_hidden_size'),
      part: 'vision_config',
      reason: 'the tower has as many heads of keys as of queries, and gives vectors of the width of the text',
    },
    {
      fields: named('min_image_size', 'max_vit_seq_len', 'img_max_token_num'),
      part: 'vision_config',
      reason: 'the processor says how large images are',
    },
  ],
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>(
        (c) => hunyuanDecoder(c.text_config),
        (c) => ({ axes: sectionsOf(c.text_config).length }),
      ),
      vision_encoder: writeEncoder,
    },
  },
});
