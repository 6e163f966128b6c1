import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { epsilon, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { linear } from '../layers/linear.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { blipImages, blipStates } from './blip/image-encoder.js';
import { wholeLanguageModel } from './language-model.js';
import { queried, queryFormer } from './q-former.js';

/** What Python's class takes for a language model that is left out. */
const TEXT = {
  ...{ vocab_size: 50_272, hidden_size: 768, num_hidden_layers: 12, ffn_dim: 3072 },
  num_attention_heads: 12,
};

/** Fields of BLIP-2 and of what came after it. */
export const blip2Config = {
  text_config: wholeLanguageModel('opt', TEXT),
  vision_config: blipImages
    .extend({
      ...{ hidden_size: size.default(1408), intermediate_size: size.default(6144) },
      ...{ num_hidden_layers: layers.default(39), num_attention_heads: size.default(16) },
      ...{ image_size: blipImages.shape.image_size.unwrap().default([224, 224]) },
      ...{ patch_size: blipImages.shape.patch_size.unwrap().default([14, 14]) },
      layer_norm_eps: epsilon.default(1e-6),
      qkv_bias: z.boolean().default(true),
    })
    .prefault({}),
  qformer_config: queryFormer.prefault({}),
  num_query_tokens: size.default(32),
};

const config = z.object(blip2Config);
type Config = z.output<typeof config>;

/** @throws GraphError for a language model whose tokens have vectors of another width than its layers */
export function checkWidths({ vectorWidth }: Config['text_config']): void {
  if (vectorWidth !== undefined)
    throw new GraphError('config.json: word_embed_proj_dim of text_config is not its hidden_size');
}

function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: tower, qformer_config: former, text_config: text } = c;
  const seen = blipStates(g, tower);
  const queries = { name: 'query_tokens', count: c.num_query_tokens, seen, width: tower.hidden_size };
  const { width } = text;
  checkWidths(text);
  const features = linear(g, queried(g, former, queries), 'language_projection', {
    ...{ from: former.hidden_size, to: width },
  });
  g.output('image_features', features, 'float32', ['rows', 'features', width]);
}

/** OPT that reads what learned queries have found in an image. modeling_blip_2.py */
export const blip2 = defineFamily({
  modelTypes: ['blip-2'],
  readers: { processor: 'Blip', prompts: { image: 'blip-2' }, positions: 'learned' },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  limits: [
    'One message of the user with one image; without a text the image is described.',
    'Language models are decoders: T5 has no writer here.',
  ],
  config,
  prefixes: [],
  parts: {
    'model.': ['language_model.model.'],
    'lm_head.': ['language_model.lm_head.'],
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
