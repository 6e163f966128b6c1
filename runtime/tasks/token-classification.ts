import * as z from 'zod';
import { RunError } from '../core/errors.js';
import type { Aggregation } from '../core/handles/index.js';
import { defineTask } from './define.js';
import { anyCase, params, TOKENIZER_FILES } from './fragments.js';
import { finite } from './scores.js';

const place = { score: z.number(), word: z.string(), start: z.number(), end: z.number() };
const strategy = anyCase(z.enum(['none', 'simple', 'first', 'average', 'max']));

export default defineTask({
  title: 'Token classification',
  summary:
    'Labels the tokens of a text, such as names of people and places; start and end count code points.',
  modality: 'text',
  streams: false,
  profile: 'text',
  input: z.object({
    text: z.string(),
    params: params({
      aggregation_strategy: strategy.nullish().describe('how tokens become entities; none by default'),
      ignore_labels: z.array(z.string()).nullish().describe('labels that are left out; O by default'),
      stride: z.int().min(0).nullish().describe('read long texts in windows that share this many tokens'),
      grouped_entities: z.boolean().nullish().describe('older name of aggregation_strategy simple'),
      ignore_subwords: z.boolean().nullish().describe('with grouped_entities: aggregation_strategy first'),
      is_split_into_words: z.literal(false).nullish().describe('the text is one string'),
    }),
  }),
  output: z.array(
    z.union([
      z.object({ entity: z.string(), index: z.number(), ...place }),
      z.object({ entity_group: z.string(), ...place }),
    ]),
  ),
  example: { text: 'Maria Gonzalez moved from Lisbon to Toronto.' },
  engines: {
    transformers: {
      head: 'token-classification',
      graphs: ['model'],
      files: TOKENIZER_FILES,
      async run(handle, { text, params: options }, { signal }) {
        const aggregation = aggregationOf(options);
        const stride = options.stride ?? undefined;
        const ignoreLabels = options.ignore_labels ?? ['O'];
        const entities = await handle.tag(text, { aggregation, ignoreLabels, stride }, signal);
        return entities.map(({ label, score, index, word, start, end }) => {
          const rest = { word, start, end };
          return index === undefined
            ? { entity_group: label, score: finite(score), ...rest }
            : { entity: label, score: finite(score), index, ...rest };
        });
      },
    },
  },
});

interface Options {
  aggregation_strategy?: Aggregation | null | undefined;
  grouped_entities?: boolean | null | undefined;
  ignore_subwords?: boolean | null | undefined;
  stride?: number | null | undefined;
}

/** The older names overrule the newer one. Windows want a strategy, unless none was ever named: Python's quirk. */
function aggregationOf(options: Options): Aggregation {
  const { grouped_entities, ignore_subwords } = options;
  const named =
    typeof (grouped_entities ?? ignore_subwords) === 'boolean'
      ? grouped(grouped_entities, ignore_subwords)
      : options.aggregation_strategy;
  if (named === 'none' && typeof options.stride === 'number') {
    throw new RunError('invalid_input', 'params.stride: needs an aggregation_strategy other than none');
  }
  return named ?? 'none';
}

function grouped(groups: boolean | null | undefined, whole: boolean | null | undefined): Aggregation {
  if (!groups) return 'none';
  return whole ? 'first' : 'simple';
}
