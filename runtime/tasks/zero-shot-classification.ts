import * as z from 'zod';
import { defineTask } from './define.js';
import { params, TOKENIZER_FILES } from './fragments.js';
import { candidateLabels, hypothesesOf } from './candidate-labels.js';
import { finite, softmax } from './scores.js';

export default defineTask({
  title: 'Zero-shot classification',
  summary:
    'Scores a text for labels of the caller’s choice, by asking whether the text entails each of them.',
  modality: 'text',
  streams: false,
  profile: 'text',
  input: z.object({
    text: z.string().min(1),
    candidate_labels: candidateLabels,
    params: params({
      hypothesis_template: z
        .string()
        .default('This example is {}.')
        .describe('a sentence with {} in place of the label'),
      multi_label: z.boolean().nullish().describe('true: each label is scored by itself'),
      multi_class: z.boolean().nullish().describe('older name of multi_label, which it overrules'),
    }),
  }),
  output: z.object({
    sequence: z.string(),
    labels: z.array(z.string()),
    scores: z.array(z.number()),
  }),
  example: { text: 'The train leaves from platform seven.', candidate_labels: ['travel', 'cooking'] },
  engines: {
    transformers: {
      head: 'entailment',
      graphs: ['model'],
      files: TOKENIZER_FILES,
      // Labels are never cut, and small models take few tokens.
      example: () => ({
        text: 'a',
        candidate_labels: ['b'],
        params: { hypothesis_template: '{}.' },
      }),
      async run(handle, { text, candidate_labels, params: options }, { signal }) {
        const hypotheses = hypothesesOf(candidate_labels, options.hypothesis_template);
        const logits = await handle.entail(text, hypotheses, signal);
        const alone = (options.multi_class ?? options.multi_label) === true || candidate_labels.length === 1;
        const scores = alone
          ? logits.map((pair) => softmax([pair.contradiction, pair.entailment])[1]!)
          : softmax(logits.map((pair) => pair.entailment));
        return { sequence: text, ...ranked(candidate_labels, scores) };
      },
    },
  },
});

/** Best first; of equal scores the later label, as Python's reversed sort has it. */
function ranked(candidates: readonly string[], scores: readonly number[]) {
  const rows = scores.map((score, i) => ({ label: candidates[i]!, score: Math.fround(score) }));
  rows.sort((a, b) => a.score - b.score).reverse();
  return { labels: rows.map((row) => row.label), scores: rows.map((row) => finite(row.score)) };
}
