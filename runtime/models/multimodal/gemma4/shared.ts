import * as z from 'zod';
import type { Gemma4Config } from '../../text/gemma4/config.js';
import { PARTS } from '../language-model.js';
import type { MediaTokens } from './language.js';

/** What all sizes of Gemma 4 have beside their images. */

const token = z.int().min(0);

export const mediaTokens = {
  image_token_id: token.nullable().default(258_880),
  video_token_id: token.nullable().default(258_884),
  audio_token_id: token.nullable().default(258_881),
};

interface Outer {
  text_config: Gemma4Config;
}

type Tokens = z.output<z.ZodObject<typeof mediaTokens>>;

export const withPadding = [
  (c: Outer): boolean => c.text_config.pad_token_id != null,
  { message: 'is needed: features stand where it is read', path: ['text_config', 'pad_token_id'] },
] satisfies [unknown, unknown];

export const tokensOf = (c: Outer & Tokens): MediaTokens => ({
  media: [c.image_token_id, c.video_token_id, c.audio_token_id].filter((id) => id !== null),
  pad: c.text_config.pad_token_id!,
});

export const seesAhead = ({ text_config: text }: Outer): boolean =>
  text.use_bidirectional_attention === 'vision';

/** Of an image, by the processor's default. */
export const SOFT_TOKENS = 280;

export const IMAGES_ALONE = ['Gemma 4 reads images alone: audio and videos are refused.'];

export const textParts = { 'model.': PARTS['model.'], 'lm_head.': PARTS['lm_head.'] };
