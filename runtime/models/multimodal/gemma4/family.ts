import { named } from '../../inert-fields.js';
import * as z from 'zod';
import { embeddedDecoderRoles } from '../../bases/decoder/decoder-heads.js';
import { defineFamily } from '../../family.js';
import { linear } from '../../layers/linear.js';
import { plainHeadNorm } from '../../layers/norm.js';
import { gemma4Config, keyLayers } from '../../text/gemma4/config.js';
import type { GraphWriter } from '../../writer/graph-writer.js';
import { innerConfig } from '../inner-config.js';
import { PARTS } from '../language-model.js';
import { decoderOverFeatures, featuresFor, type MediaTokens } from './language.js';
import { gemma4Images, softTokens } from './vision.js';

const TEXT = 'gemma4_text';
const TOWER = 'gemma4_vision';
const token = z.int().min(0);

const fields = z
  .object({
    text_config: innerConfig((type) => (type === TEXT ? gemma4Config : undefined), { usual: TEXT }),
    vision_config: innerConfig((type) => (type === TOWER ? gemma4Images : undefined), { usual: TOWER }),
    image_token_id: token.nullable().default(258_880),
    video_token_id: token.nullable().default(258_884),
    audio_token_id: token.nullable().default(258_881),
  })
  .refine((c) => c.text_config.pad_token_id != null, {
    ...{ message: 'is needed: features stand where it is read', path: ['text_config', 'pad_token_id'] },
  });
type Config = z.output<typeof fields>;

/** The outer field says whether the table is shared; where there is none, it is. */
function withTie(given: object): object {
  const { text_config: text, tie_word_embeddings: tie = true } = given as Readonly<Record<string, unknown>>;
  return text ? { ...given, text_config: { ...text, tie_word_embeddings: tie } } : given;
}

const config = z.preprocess((given) => withTie(given as object), fields);

const tokensOf = (c: Config): MediaTokens => ({
  media: [c.image_token_id, c.video_token_id, c.audio_token_id].filter((id) => id !== null),
  pad: c.text_config.pad_token_id!,
});

const seesAhead = ({ text_config: text }: Config): boolean => text.use_bidirectional_attention === 'vision';

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

/** Of an image, by the processor's default. */
const SOFT_TOKENS = 280;

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
  limits: ['Gemma 4 reads pictures alone: sounds and videos are refused.'],
  memory: {
    unmaskedVision: true,
    keyLayers: (c: Config) => keyLayers(c.text_config),
    patches: (c: Config) => SOFT_TOKENS * c.vision_config.pooling_kernel_size ** 2,
  },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: {
    'model.': PARTS['model.'],
    'lm_head.': PARTS['lm_head.'],
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
