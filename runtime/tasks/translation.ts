import * as z from 'zod';
import { defineTask } from './define.js';
import { params } from './fragments.js';
import { generatedText, textAnswer, unstreamable, generationUsage } from './generated.js';
import { seq2seqFiles, seq2seqParams } from './seq2seq.js';

export default defineTask({
  title: 'Translation',
  summary: 'Says a text in another language.',
  modality: 'text',
  streams: true,
  unstreamable,
  profile: 'text',
  input: z.object({
    text: z.string(),
    params: params({
      ...seq2seqParams,
      src_lang: z.string().min(1).nullish().describe('language of the text, by the model’s own code'),
      tgt_lang: z.string().min(1).nullish().describe('language of the answer, by the model’s own code'),
    }),
  }),
  output: generatedText,
  example: { text: 'The library opens at nine.', params: { max_new_tokens: 20 } },
  engines: {
    generation: {
      head: 'seq2seq-lm',
      ...seq2seqFiles,
      example: ({ languages: [src_lang, tgt_lang] }) => ({
        text: 'The library opens at nine.',
        params: { src_lang, tgt_lang },
      }),
      async *run(handle, { text, params: options }, { signal, count }) {
        const found = yield* handle.generate(text, options, signal);
        count(generationUsage(found));
        return textAnswer(found);
      },
    },
  },
});
