import * as z from 'zod';
import { RunError } from '../core/errors.js';
import { defineTask } from './define.js';
import { padding, params, PROCESSOR_FILES, TOKENIZER_FILES, withMedia } from './fragments.js';
import { words } from './python-text.js';
import { finite } from './scores.js';
import { seq2seqFiles } from './seq2seq.js';

const PAGE = 'https://example.com/invoice.png';
const count = z.int().min(1).nullish();
const coordinate = z.int().min(0);

/** What models that read words take beside the page. */
const reading = {
  word_boxes: z
    .array(z.tuple([z.string(), z.tuple([coordinate, coordinate, coordinate, coordinate])]))
    .nullish()
    .describe('words of the page, each with left, top, right and bottom, 0 to 1000; for LayoutLM'),
  doc_stride: z.int().min(0).nullish().describe('tokens that the windows over a long page share'),
  max_answer_len: count.describe('longest answer in tokens, 15 by default'),
  max_seq_len: count.describe('tokens of a window with the question; the model’s limit by default'),
  handle_impossible_answer: z.boolean().nullish().describe('true: an empty answer is possible'),
  padding,
};

type Reading = z.output<z.ZodObject<typeof reading>>;

export default defineTask({
  title: 'Document question answering',
  summary: 'Answers a question about the image of a document; start and end count words.',
  modality: 'image',
  streams: false,
  profile: 'vision',
  input: withMedia({
    question: z.string().min(1),
    params: params({
      ...reading,
      top_k: count.describe('answers, best first; one by default, and always of models that write'),
    }),
  }),
  output: z.array(
    z.object({
      score: z.number().nullable().optional(),
      answer: z.string().nullable(),
      start: z.int().optional(),
      end: z.int().optional(),
    }),
  ),
  example: { url: PAGE, question: 'What is the total?' },
  engines: {
    transformers: {
      declaredOnly: true,
      head: 'document-reading',
      graphs: ['model'],
      files: TOKENIZER_FILES,
      example: () => ({ url: PAGE, question: 'a', params: { word_boxes: [['a', [0, 0, 1, 1]]] } }),
      async run(handle, { question, params: options }, { signal }) {
        const document = { question: words(question), words: wordsOf(options) };
        const settings = {
          topK: options.top_k ?? 1,
          maxAnswerLength: options.max_answer_len ?? 15,
          maxLength: options.max_seq_len ?? undefined,
          stride: options.doc_stride ?? undefined,
          mayBeImpossible: options.handle_impossible_answer ?? false,
        };
        const found = await handle.read(document, settings, signal);
        return found.map((each) => ({ ...each, score: finite(each.score) }));
      },
    },
    generation: {
      head: 'document-question-answering',
      ...seq2seqFiles,
      files: [...seq2seqFiles.files, ...PROCESSOR_FILES],
      example: () => ({ url: PAGE, question: 'a' }),
      async run(handle, { media, question, params: options }, { signal }) {
        refuseReading(options);
        return [{ answer: (await handle.answer({ image: media.bytes, question }, signal)) ?? null }];
      },
    },
  },
});

/** There is no reader of letters here, which Python calls Tesseract for. */
function wordsOf({ word_boxes }: Reading) {
  if (word_boxes) return word_boxes.map(([word, box]) => ({ word, box }));
  throw new RunError(
    'invalid_input',
    'params.word_boxes: this model reads words, not images; give those of the page, as [["Total", [left, top, right, bottom]], …] with coordinates from 0 to 1000',
  );
}

/** @throws RunError 422 for what only models that read words can do */
function refuseReading(options: Reading): void {
  const given = Object.keys(reading).find((name) => (options[name as keyof Reading] ?? null) !== null);
  if (given === undefined) return;
  throw new RunError('unprocessable', `params.${given}: this model reads the image itself, not words`);
}
