import { z } from 'zod';
import { defineTask } from './define.js';
import { params, PROCESSOR_FILES, withMedia } from './fragments.js';
import { seq2seqFiles } from './seq2seq.js';

const PAGE = 'https://example.com/invoice.png';

export default defineTask({
  title: 'Document question answering',
  summary: 'Answers a question about the picture of a document.',
  modality: 'image',
  streams: false,
  profile: 'vision',
  input: withMedia({ question: z.string().min(1), params: params({}) }),
  output: z.array(z.object({ answer: z.string().nullable() })),
  example: { url: PAGE, question: 'What is the total?' },
  engines: {
    generation: {
      head: 'document-question-answering',
      ...seq2seqFiles,
      files: [...seq2seqFiles.files, ...PROCESSOR_FILES],
      example: () => ({ url: PAGE, question: 'a' }),
      async run(handle, { media, question }, { signal }) {
        return [{ answer: (await handle.answer({ image: media.bytes, question }, signal)) ?? null }];
      },
    },
  },
});
