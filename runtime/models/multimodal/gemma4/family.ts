import { named } from '../../inert-fields.js';
import * as z from 'zod';
import { embeddedDecoderRoles } from '../../bases/decoder/decoder-heads.js';
import { defineFamily } from '../../family.js';
import { linear } from '../../layers/linear.js';
import { plainHeadNorm } from '../../layers/norm.js';
import { gemma4Config, keyLayers } from '../../text/gemma4/config.js';
import type { GraphWriter } from '../../writer/graph-writer.js';
import { innerConfig } from '../inner-config.js';
import { withTie } from '../language-model.js';
import { decoderOverFeatures, featuresFor } from './language.js';
import {
  IMAGES_ALONE,
  mediaTokens,
  seesAhead,
  SOFT_TOKENS,
  textParts,
  tokensOf,
  withPadding,
} from './shared.js';
import { gemma4Images, softTokens } from './vision.js';

const TEXT = 'gemma4_text';
const TOWER = 'gemma4_vision';

const fields = z
  .object({
    text_config: innerConfig((type) => (type === TEXT ? gemma4Config : undefined), { usual: TEXT }),
    vision_config: innerConfig((type) => (type === TOWER ? gemma4Images : undefined), { usual: TOWER }),
    ...mediaTokens,
  })
  .refine(...withPadding);
type Config = z.output<typeof fields>;

const config = z.preprocess((given) => withTie(given as object), fields);

/** Features of images of one size: float32 [rows, features, width of the language model's vectors]. */
function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: tower, text_config: text } = c;
  const { hidden_size: width, rms_norm_eps: epsilon } = tower;
  const normed = plainHeadNorm(g, softTokens(g, tower), { heads: 1, width, epsilon });
  const size = { from: width, to: text.hidden_size, bias: false };
  const features = linear(g, normed, 'embed_vision.embedding_projection', size);
  const tokens = tokensOf(c);
  const { vectorWidth = text.hidden_size } = decoderOverFeatures(text, tokens);
  g.output('image_features', featuresFor(g, features, text, tokens), 'float32', [
    ...['rows', 'features'],
    vectorWidth,
  ]);
}

/** Gemma 4 that reads images; in its larger forms, layers with a window let features of an image see each other. modeling_gemma4.py */
export const gemma4Media = defineFamily({
  modelTypes: ['gemma4'],
  inert: [
    { fields: named('audio_config'), reason: 'the encoder of audio, which is refused' },
    {
      fields: named('attention_bias'),
      part: 'vision_config',
      reason: 'the class has no biases, whatever the file says',
    },
  ],
  readers: { prompts: { image: 'gemma4' } },
  limits: IMAGES_ALONE,
  memory: {
    unmaskedVision: true,
    keyLayers: (c: Config) => keyLayers(c.text_config),
    patches: (c: Config) => SOFT_TOKENS * c.vision_config.pooling_kernel_size ** 2,
  },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: {
    ...textParts,
    'vision_tower.': ['model.vision_tower.', 'vision_tower.'],
    'embed_vision.': ['model.embed_vision.', 'embed_vision.'],
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>(
        (c) => decoderOverFeatures(c.text_config, tokensOf(c)),
        (c) => ({ groups: seesAhead(c) ? 'in windows' : undefined }),
      ),
      vision_encoder: writeEncoder,
    },
  },
});
