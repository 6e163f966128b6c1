import * as z from 'zod';
import { hint, modelField, neutral, unsupportedField } from '../../fields.js';

const flag = z.enum(['true', 'false', 'True', 'False']).transform((text) => /^t/i.test(text));
const number = z
  .string()
  .regex(/^-?\d+(?:\.\d+)?$/, 'must be a number')
  .transform(Number);

/** Formats of a transcript. */
export const responseFormat = z.enum(['json', 'text', 'srt', 'vtt', 'verbose_json']);

/** Fields of POST v1/audio/transcriptions, as texts of a form; the file stands beside them. */
export const transcriptionBody = z.strictObject({
  model: modelField,
  language: z.string().optional().describe('code or name; detected by default'),
  prompt: z.string().optional().describe('words to expect: names, spellings'),
  response_format: responseFormat.default('json'),
  temperature: number.optional(),
  timestamp_granularities: z.array(z.enum(['segment', 'word'])).optional(),
  stream: flag.optional(),
  include: unsupportedField('probabilities of a transcript are not known'),
  chunking_strategy: hint('changes nothing: long audio is transcribed window by window'),
  // Not OpenAI’s, but of servers with its interface.
  hotwords: unsupportedField('the model listens for no words'),
  vad_filter: neutral(['false'], 'silence is not cut away'),
});

export type TranscriptionFields = z.output<typeof transcriptionBody>;
