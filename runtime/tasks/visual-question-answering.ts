import * as z from 'zod';
import { defineTask } from './define.js';
import { padding, params, PROCESSOR_FILES, TOKENIZER_FILES, truncation, withMedia } from './fragments.js';
import { generationUsage } from './generated.js';
import { ranked } from './scores.js';
import { seq2seqFiles } from './seq2seq.js';

const PHOTO = 'https://example.com/harbour.jpg';
const MOST_ANSWERS = 5;

export default defineTask({
  title: 'Visual question answering',
  summary: 'Answers a question about an image.',
  modality: 'image',
  streams: false,
  profile: 'vision',
  input: withMedia({
    question: z.string().min(1),
    params: params({
      top_k: z
        .int()
        .min(1)
        .nullish()
        .describe('rows in the answer, 5 by default; models that write have one'),
      truncation: z
        .union([truncation, z.literal(false)])
        .transform(Boolean)
        .describe('cut the question to the tokenizer’s limit; false by default'),
      padding,
    }),
  }),
  output: z.array(z.object({ score: z.number().nullable().optional(), answer: z.string() })),
  example: { url: PHOTO, question: 'How many ships are there?' },
  engines: {
    generation: {
      declaredOnly: true,
      head: 'visual-answer-writing',
      ...seq2seqFiles,
      files: [...seq2seqFiles.files, ...PROCESSOR_FILES],
      example: () => ({ url: PHOTO, question: 'a' }),
      async run(handle, { media, question, params: { truncation } }, { signal, count }) {
        const found = await handle.answer({ image: media.bytes, question, truncate: truncation }, signal);
        count(generationUsage([found]));
        // One answer whatever top_k says, as in Python.
        return [{ answer: found.text }];
      },
    },
    transformers: {
      head: 'visual-question-answering',
      graphs: ['model'],
      files: [...TOKENIZER_FILES, ...PROCESSOR_FILES],
      example: () => ({ url: PHOTO, question: 'a' }),
      async run(handle, { media, question, params: { top_k, truncation } }, { signal }) {
        const scores = await handle.answer({ image: media.bytes, question, truncate: truncation }, signal);
        const rows = ranked(scores, 'sigmoid', top_k ?? MOST_ANSWERS);
        return rows.map(({ label, score }) => ({ score, answer: label }));
      },
    },
  },
});
