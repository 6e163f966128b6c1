import * as z from 'zod';
import { defineFamily } from '../family.js';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { multiplied } from '../layers/linear.js';
import { rmsNorm } from '../layers/norm.js';
import { imageOf, tokensOf } from '../layers/patch-embed.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { languageModel, PARTS } from './language-model.js';
import { imageEncoder } from './image-tower.js';
import { seenBy } from './gemma-images.js';

const gemma3Config = z.object({
  text_config: languageModel('gemma3_text'),
  vision_config: imageEncoder('siglip_vision_model'),
  mm_tokens_per_image: size.default(256),
});

type Gemma3Config = z.output<typeof gemma3Config>;

/** Means of squares of patches, as many as an image has features: float32 [rows, features, width]. */
function pooled(g: GraphWriter, x: Value, { side, edge }: { side: number; edge: number }): Value {
  const kernel = Math.floor(side / edge);
  if (kernel < 1) throw new GraphError('config.json: mm_tokens_per_image are more than an image has patches');
  const shape = { kernel_shape: [kernel, kernel], strides: [kernel, kernel] };
  return tokensOf(g, g.node('AveragePool', [imageOf(g, x, g.ints([side, side]))], shape));
}

/** The features of an image see each other. modeling_gemma3.py */
export const gemma3Images = defineFamily({
  modelTypes: ['gemma3'],
  readers: { processor: 'Gemma3', prompts: { image: 'gemma3' } },
  limits: ['Pan and scan (`do_pan_and_scan`) is refused.'],
  usualTask: 'image-text-to-text',
  config: gemma3Config,
  prefixes: [],
  parts: PARTS,
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Gemma3Config>((c) => c.text_config, { groups: 'everywhere' }),
      vision_encoder(g, c: Gemma3Config) {
        const { vision_config: tower, text_config: text } = c;
        const edge = Math.floor(Math.sqrt(c.mm_tokens_per_image));
        const means = pooled(g, seenBy(g, tower), { side: tower.side, edge });
        const at = (name: string) => `multi_modal_projector.${name}`;
        const norm = { width: tower.width, epsilon: tower.epsilon, offset: 1 };
        const normed = rmsNorm(g, means, at('mm_soft_emb_norm'), norm);
        const matrix = { rows: text.width, columns: tower.width, transposed: true };
        const features = multiplied(g, normed, at('mm_input_projection_weight'), matrix);
        g.output('image_features', features, 'float32', ['rows', 'features', text.width]);
      },
    },
  },
});
