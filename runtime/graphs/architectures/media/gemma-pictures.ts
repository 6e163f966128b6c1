import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { embeddedDecoderRoles } from '../../blocks/decoder.js';
import { linear, multiplied } from '../../blocks/linear.js';
import { rmsNorm } from '../../blocks/norm.js';
import { pictureOf, tokensOf } from '../../blocks/pictures.js';
import { GraphError } from '../../errors.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { size } from '../config.js';
import { languageModel, PARTS } from './language-model.js';
import { pictureEncoder, type Tower } from './picture-tower.js';

/** Language models of Gemma's kind that read pictures, and whose tokens see later ones in places. */

/** States of all patches, as the encoder ends: float32 [rows, patches, width]. */
const seenBy = (g: GraphWriter, tower: Tower): Value =>
  tower.finish(g, tower.states(g, tower.layers).at(-1)!);

const paligemmaConfig = z.object({
  text_config: languageModel('gemma', {
    ...{ hidden_size: 2048, num_hidden_layers: 18, intermediate_size: 16_384, num_attention_heads: 8 },
    ...{ num_key_value_heads: 1, vocab_size: 257_152 },
  }),
  vision_config: pictureEncoder('siglip_vision_model', {
    ...{ hidden_size: 1152, intermediate_size: 4096, num_hidden_layers: 27, num_attention_heads: 16 },
    ...{ patch_size: 14, image_size: 224 },
  }),
});
type PaligemmaConfig = z.output<typeof paligemmaConfig>;

/** All of a prompt sees all of it; what is written behind it keeps to the windows of layers. modeling_paligemma.py */
export const paligemma = defineArchitecture({
  modelTypes: ['paligemma'],
  config: paligemmaConfig,
  prefixes: [],
  parts: PARTS,
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<PaligemmaConfig>((c) => c.text_config, { groups: true }),
      // Python divides features by what its language model multiplies all vectors with.
      vision_encoder(g, c: PaligemmaConfig) {
        const { vision_config: tower, text_config: text } = c;
        const seen = seenBy(g, tower);
        const features = linear(g, seen, 'multi_modal_projector.linear', {
          ...{ from: tower.width, to: text.width },
        });
        g.output('image_features', features, 'float32', ['rows', 'features', text.width]);
      },
    },
  },
});

const gemma3Config = z.object({
  text_config: languageModel('gemma3_text'),
  vision_config: pictureEncoder('siglip_vision_model'),
  mm_tokens_per_image: size.default(256),
});
type Gemma3Config = z.output<typeof gemma3Config>;

/** Means of squares of patches, as many as a picture has features: float32 [rows, features, width]. */
function pooled(g: GraphWriter, x: Value, { side, edge }: { side: number; edge: number }): Value {
  const kernel = Math.floor(side / edge);
  if (kernel < 1)
    throw new GraphError('config.json: mm_tokens_per_image are more than a picture has patches');
  const shape = { kernel_shape: [kernel, kernel], strides: [kernel, kernel] };
  return tokensOf(g, g.node('AveragePool', [pictureOf(g, x, g.ints([side, side]))], shape));
}

/** The features of a picture see each other. modeling_gemma3.py */
export const gemma3Pictures = defineArchitecture({
  modelTypes: ['gemma3'],
  config: gemma3Config,
  prefixes: [],
  parts: PARTS,
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Gemma3Config>((c) => c.text_config, { groups: true }),
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
