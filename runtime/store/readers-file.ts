import * as z from 'zod';
import {
  AUDIO_READERS,
  BOXES,
  CAPTIONS,
  DECODER_INPUTS,
  DETECTORS,
  MATCHINGS,
  MESSAGES,
  type ModelReaders,
  POSITIONS,
  ROPES,
  SEGMENTERS,
} from '../core/readers.js';

/** A class of Python's, or a file of the server's. */
const name = z.string().regex(/^[\w-]{1,64}$/, 'is not a name');

/** `readers` of model.json. Keys are written in this order. A name that this version doesn't know is refused, not left out. */
export const modelReaders = z.strictObject({
  processor: name.optional(),
  extractor: name.optional(),
  prompts: z
    .strictObject({ image: name.optional(), audio: name.optional(), video: name.optional() })
    .optional(),
  rope: z.enum(ROPES).optional(),
  positions: z.enum(POSITIONS).optional(),
  messages: z.enum(MESSAGES).optional(),
  decoderInput: z.enum(DECODER_INPUTS).optional(),
  boxes: z.enum(BOXES).optional(),
  detector: z.enum(DETECTORS).optional(),
  matching: z.enum(MATCHINGS).optional(),
  segmenter: z.enum(SEGMENTERS).optional(),
  audio: z.enum(AUDIO_READERS).optional(),
  captions: z.enum(CAPTIONS).optional(),
}) satisfies z.ZodType<ModelReaders>;
