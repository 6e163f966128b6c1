import * as z from 'zod';
import { defineTask } from './define.js';
import { PROCESSOR_FILES, withMedia } from './fragments.js';
import { withGenerateKwargs } from './generation-params.js';
import { generatedText, generationUsage, textAnswer } from './generated.js';
import { seq2seqFiles, seq2seqParams } from './seq2seq.js';

const { truncation: _, ...textless } = seq2seqParams;

export default defineTask({
  title: 'Image to text',
  summary: 'Describes an image, or reads the text in it.',
  modality: 'image',
  streams: false,
  profile: 'vision',
  input: withMedia({
    params: withGenerateKwargs({
      ...textless,
      prompt: z.string().nullish().describe('what the description begins with; for BLIP'),
    }),
  }),
  output: generatedText,
  example: { url: 'https://example.com/harbour.jpg', params: { max_new_tokens: 20 } },
  engines: {
    generation: {
      head: 'image-to-text',
      ...seq2seqFiles,
      files: [...seq2seqFiles.files, ...PROCESSOR_FILES],
      async *run(handle, { media, params: options }, { signal, count }) {
        const found = yield* handle.describe(media.bytes, options, signal);
        count(generationUsage(found));
        return textAnswer(found);
      },
    },
  },
});
