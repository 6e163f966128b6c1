import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { isObject } from '../../hub-config/json.js';
import { size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { linear } from '../layers/linear.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { blip2Config, checkWidths } from './blip-2.js';
import { blipStates } from './blip/image-encoder.js';
import { queried, queryFormer } from './q-former.js';

const config = z.object({
  ...blip2Config,
  qformer_config: queryFormer
    .extend({ vocab_size: size.default(30_522), max_position_embeddings: size.default(512) })
    .prefault({}),
});
type Config = z.output<typeof config>;

function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: tower, qformer_config: former, text_config: text } = c;
  checkWidths(text);
  const seen = blipStates(g, tower);
  const ids = g.input('qformer_input_ids', 'int64', ['rows', 'tokens']);
  const features = queried(g, former, {
    ...{ name: 'query_tokens', count: c.num_query_tokens, seen, width: tower.hidden_size },
    text: { ids, vocabulary: former.vocab_size, positions: former.max_position_embeddings },
  });
  const read = linear(g, features, 'language_projection', { from: former.hidden_size, to: text.width });
  g.output('image_features', read, 'float32', ['rows', 'features', text.width]);
}

/** The usual one. Its table of positions limits texts. */
const isOpt = (text: unknown): boolean => !isObject(text) || (text['model_type'] ?? 'opt') === 'opt';

/** BLIP-2 whose learned queries read the text, too. modeling_instructblip.py */
export const instructblip = defineFamily({
  modelTypes: ['instructblip'],
  readers: ({ text_config: text }) => ({
    ...{ processor: 'Blip', prompts: { image: 'instructblip' } },
    ...(isOpt(text) && { positions: 'learned' }),
  }),
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  limits: [
    'One message of the user with one image and a text.',
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
