import * as z from 'zod';
import { defineTask } from './define.js';
import { params, TOKENIZER_FILES } from './fragments.js';
import { finite } from './scores.js';

const count = z.int().min(1).nullish();

const answer = z.object({
  score: z.number(),
  start: z.number(),
  end: z.number(),
  answer: z.string(),
});

export default defineTask({
  title: 'Question answering',
  summary: 'Finds the answer to a question in a text; start and end count code points.',
  modality: 'text',
  streams: false,
  profile: 'text',
  input: z.object({
    question: z.string().min(1),
    context: z.string().min(1).describe('the text that holds the answer'),
    params: params({
      top_k: count.describe('answers, best first; one by default'),
      topk: count.describe('older name of top_k'),
      doc_stride: z.int().min(0).nullish().describe('tokens that the windows over a long context share'),
      max_answer_len: count.describe('longest answer in tokens, 15 by default'),
      max_seq_len: count.describe('tokens of a window with the question, 384 by default'),
      max_question_len: count.describe('without effect, as with Python’s fast tokenizers'),
      handle_impossible_answer: z.boolean().nullish().describe('true: an empty answer is possible'),
      align_to_words: z.boolean().nullish().describe('false: answers may begin and end inside words'),
      padding: z
        .union([z.boolean(), z.enum(['longest', 'max_length', 'do_not_pad'])])
        .nullish()
        .describe('the answer is the same'),
    }),
  }),
  output: z.union([answer, z.array(answer)]),
  example: {
    question: 'Where does the train leave from?',
    context: 'The train to Vienna leaves from platform seven in twenty minutes.',
  },
  engines: {
    transformers: {
      head: 'question-answering',
      graphs: ['model'],
      files: TOKENIZER_FILES,
      // Questions are never cut, and small models take few tokens.
      example: () => ({ question: 'Who?', context: 'I am.' }),
      async run(handle, { question, context, params: options }, { signal }) {
        const settings = {
          topK: options.top_k ?? options.topk ?? 1,
          maxAnswerLength: options.max_answer_len ?? 15,
          maxLength: options.max_seq_len ?? undefined,
          stride: options.doc_stride ?? undefined,
          mayBeImpossible: options.handle_impossible_answer ?? false,
          wholeWords: options.align_to_words ?? true,
        };
        const found = await handle.answer({ question, context }, settings, signal);
        const answers = found.map((each) => ({ ...each, score: finite(each.score) }));
        return answers.length === 1 ? answers[0]! : answers;
      },
    },
  },
});
