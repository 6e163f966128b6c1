import * as z from 'zod';
import { isObject } from '../../../hub-config/json.js';
import { embeddedDecoderRoles } from '../../bases/decoder/decoder-heads.js';
import { epsilon, size } from '../../config-fields.js';
import { defineFamily, WHOLE_KEYS } from '../../family.js';
import { named } from '../../inert-fields.js';
import { linear } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter } from '../../writer/graph-writer.js';
import { languageModel, withTie } from '../language-model.js';
import { kimiImages, patchStates } from './vision.js';

const fields = z.object({
  text_config: languageModel('deepseek_v3'),
  vision_config: kimiImages.prefault({}),
  projection_hidden_size: size.nullable().default(1152),
  projection_layer_norm_eps: epsilon.default(1e-5),
});
type Config = z.output<typeof fields>;

/** Its makers call the language model `kimi_k2`. */
function withType(given: object): object {
  const { text_config: text } = given as Readonly<Record<string, unknown>>;
  const isOwn = isObject(text) && text['model_type'] === 'kimi_k2';
  return isOwn ? { ...given, text_config: { ...text, model_type: 'deepseek_v3' } } : given;
}

const config = z.preprocess((given) => withTie(withType(given as object)), fields);

/** `image_features` [features, width] of the patches of one image; inputs are as Qwen2-VL's. */
function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: vision, text_config: text } = c;
  const width = vision.hidden_size;
  if (c.projection_hidden_size !== width)
    throw new GraphError('config.json: projection_hidden_size is not hidden_size of vision_config');
  const normed = layerNorm(g, patchStates(g, vision), 'mm_projector.pre_norm', {
    ...{ width, epsilon: c.projection_layer_norm_eps },
  });
  const from = width * vision.merge_kernel_size[0]! ** 2;
  const cells = g.node('Reshape', [normed, g.ints([-1, from])]);
  const wide = g.node('Gelu', [linear(g, cells, 'mm_projector.proj.0', { from, to: from })]);
  const features = linear(g, wide, 'mm_projector.proj.2', { from, to: text.width });
  g.output('image_features', features, 'float32', ['features', text.width]);
}

/** DeepSeek 3 that reads images of any size through MoonViT. modeling_kimi_k25.py */
export const kimiK25 = defineFamily({
  modelTypes: ['kimi_k25'],
  readers: { prompts: { image: 'kimi-k25' } },
  limits: [WHOLE_KEYS, 'Videos are refused.'],
  inert: [{ fields: named('pos_emb_time'), part: 'vision_config', reason: 'positions of frames' }],
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  // Its makers' names, and those that version 5 of transformers saves.
  parts: {
    'model.layers.': ['language_model.model.layers.', 'language_model.model.blocks.'],
    'model.': ['language_model.model.'],
    'lm_head.': ['language_model.lm_head.'],
    'vision_tower.patch_embed.': ['vision_tower.patch_embed.', 'vision_tower.encoder.patch_embed.'],
    'mm_projector.': ['mm_projector.', 'model.mm_projector.'],
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
