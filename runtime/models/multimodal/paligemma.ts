import { named } from '../inert-fields.js';
import * as z from 'zod';
import { defineFamily } from '../family.js';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { linear } from '../layers/linear.js';
import { languageModel, PARTS } from './language-model.js';
import { imageEncoder } from './image-tower.js';
import { seenBy } from './gemma-images.js';

const paligemmaConfig = z.object({
  text_config: languageModel('gemma', {
    ...{ hidden_size: 2048, num_hidden_layers: 18, intermediate_size: 16_384, num_attention_heads: 8 },
    ...{ num_key_value_heads: 1, vocab_size: 257_152 },
  }),
  vision_config: imageEncoder('siglip_vision_model', {
    ...{ hidden_size: 1152, intermediate_size: 4096, num_hidden_layers: 27, num_attention_heads: 16 },
    ...{ patch_size: 14, image_size: 224 },
  }),
});

type PaligemmaConfig = z.output<typeof paligemmaConfig>;

/** All of a prompt sees all of it; what is written behind it keeps to the windows of layers. modeling_paligemma.py */
export const paligemma = defineFamily({
  modelTypes: ['paligemma'],
  inert: [
    {
      fields: named('use_bidirectional_attention'),
      part: 'text_config',
      reason: 'the class has prompts seen from both sides, whatever the file says',
    },
  ],
  readers: { processor: 'Siglip', prompts: { image: 'paligemma' } },
  usualTask: 'image-text-to-text',
  config: paligemmaConfig,
  prefixes: [],
  parts: PARTS,
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<PaligemmaConfig>((c) => c.text_config, { groups: 'everywhere' }),
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
