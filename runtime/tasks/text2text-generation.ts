import * as z from 'zod';
import { defineTask } from './define.js';
import { params } from './fragments.js';
import { grammarParams } from './grammar-params.js';
import { generatedText, textAnswer, unstreamable, generationUsage } from './generated.js';
import { seq2seqFiles, seq2seqParams } from './seq2seq.js';

export default defineTask({
  title: 'Text-to-text generation',
  summary: 'Answers a text with another text.',
  modality: 'text',
  streams: true,
  unstreamable,
  profile: 'text',
  input: z.object({ text: z.string(), params: params({ ...seq2seqParams, ...grammarParams }) }),
  output: generatedText,
  example: {
    text: 'translate English to German: The library opens at nine.',
    params: { max_new_tokens: 20 },
  },
  engines: {
    generation: {
      head: 'seq2seq-lm',
      ...seq2seqFiles,
      async *run(handle, { text, params: options }, { signal, count }) {
        const found = yield* handle.generate(text, options, signal);
        count(generationUsage(found));
        return textAnswer(found);
      },
    },
  },
});
