import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { epsilon } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { layerNorm } from '../layers/norm.js';
import { tokensFrom } from '../layers/patch-embed.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { PARTS } from './language-model.js';
import { featureLayers, llavaConfig, seenByLayers } from './llava.js';
import { projected } from './projector.js';

const { text_config, vision_config, projector_hidden_act } = llavaConfig;

const config = z.object({
  ...{ text_config, vision_config, projector_hidden_act },
  projector_layernorm_eps: epsilon.default(1e-5),
  vision_feature_layer: featureLayers.default([-2, -5, -8, -11, 6]),
});
type Config = z.output<typeof config>;

function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: tower, vision_feature_layer: named, text_config: text } = c;
  if (tower.classes !== 1)
    throw new GraphError('config.json: vision_config has no class token, which this model leaves out');
  const from = tower.width * (typeof named === 'number' ? 1 : named.length);
  const patches = tokensFrom(g, seenByLayers(g, c), 1);
  const norm = { width: from, epsilon: c.projector_layernorm_eps };
  const normed = layerNorm(g, patches, 'multi_modal_projector.projector_layernorm', norm);
  const features = projected(g, normed, { from, to: text.width, act: c.projector_hidden_act, bias: true });
  g.output('image_features', features, 'float32', ['rows', 'features', text.width]);
}

/** LLaVA that reads several layers of its encoder, behind a norm. modeling_vipllava.py */
export const vipllava = defineFamily({
  modelTypes: ['vipllava'],
  readers: { processor: 'CLIP', prompts: { image: 'llava' } },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config,
  ...{ prefixes: [], parts: PARTS },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
