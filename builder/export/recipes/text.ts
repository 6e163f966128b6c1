import type { Head } from '../../../runtime/core/handles/index.js';
import { modelTypeOf } from '../../../runtime/hub-config/json.js';
import type { ExportRecipe, SampleInput, Sizes } from '../types.js';
import { type Json, number, numbersNamed } from './config.js';

/** Class and outputs of heads that read texts. */
const HEADS: Partial<Record<Head, Pick<ExportRecipe, 'class' | 'outputs' | 'mayMiss'>>> = {
  'sequence-classification': {
    ...{ class: 'AutoModelForSequenceClassification', outputs: ['logits'], mayMiss: [] },
  },
  entailment: { class: 'AutoModelForSequenceClassification', outputs: ['logits'], mayMiss: [] },
  'token-classification': {
    ...{ class: 'AutoModelForTokenClassification', outputs: ['logits'], mayMiss: [] },
  },
  'masked-lm': { class: 'AutoModelForMaskedLM', outputs: ['logits'], mayMiss: [] },
  'question-answering': {
    ...{ class: 'AutoModelForQuestionAnswering', outputs: ['start_logits', 'end_logits'], mayMiss: [] },
  },
  // A base model may have a layer behind the states, which checkpoints of other heads lack and nothing here reads.
  embedding: { class: 'AutoModel', outputs: ['last_hidden_state'], mayMiss: ['pooler'] },
};

/** What a family needs beyond its tokens. */
interface Special {
  config?: ExportRecipe['config'];
  /** Ids that each text has. */
  fixed?: (config: Json) => (readonly [place: number, id: number])[];
  /** Tensors beside the tokens. */
  more?: Readonly<Record<string, SampleInput>>;
}

const ROW: readonly string[] = ['rows', 'length'];

/** Adds the embedding of a segment's number, though no field counts segments; tokenizers of these give them. */
const SEGMENTS: Special = { more: { token_type_ids: { kind: 'segments', axes: ROW, optional: true } } };

/** Classes are those of the token that ends a text. */
const ENDED: Special = {
  fixed: ({ eos_token_id }) => [[2, number(eos_token_id) ?? 1]],
};

const SPECIAL: Readonly<Record<string, Special>> = {
  xlm: SEGMENTS,
  flaubert: SEGMENTS,
  // Its sparse attention bakes the length; the full one computes what texts of up to 704 tokens get in Python, too.
  big_bird: { config: { attention_type: 'original_full' } },
  ...Object.fromEntries(
    ['bart', 'bigbird_pegasus', 'mbart', 'mt5', 'mvp', 'plbart', 't5', 'umt5'].map((type) => [type, ENDED]),
  ),
  // Looks for the places that ask in the text.
  splinter: { fixed: ({ question_token_id }) => [[2, number(question_token_id) ?? 104]] },
};

/** Lengths of the sample and of probes; short texts where there are few positions. */
const TRACED: Sizes = { rows: 2, length: 12 };
const PROBES: readonly Sizes[] = [1, 3].flatMap((rows) => [7, 16, 29].map((length) => ({ rows, length })));
/** Positions that families keep for padding. */
const RESERVED = 2;

const vocabularyOf = (config: Json): number | undefined =>
  number(config['vocab_size']) ?? number(config['n_words']) ?? number(config['emb_size']);

/** @returns undefined for other heads, a text for what can't be exported */
export function textRecipe(head: Head, config: Json): Omit<ExportRecipe, 'modelType'> | string | undefined {
  const about = HEADS[head];
  if (!about) return undefined;
  const vocabulary = vocabularyOf(config) ?? vocabularyOf((config['text_config'] ?? {}) as Json);
  if (vocabulary === undefined || vocabulary < 8) return 'config.json says no vocab_size';
  const { config: set = {}, fixed, more = {} } = SPECIAL[modelTypeOf(config) ?? ''] ?? {};
  const positions = number(config['max_position_embeddings']) ?? Infinity;
  const longest = Math.max(4, positions - RESERVED);
  const within = ({ rows, length }: Sizes): Sizes => ({ rows: rows!, length: Math.min(length!, longest) });
  const types = number(config['type_vocab_size']) ?? 0;
  return {
    ...about,
    config: set,
    inputs: {
      input_ids: {
        ...{ kind: 'tokens', axes: ROW, low: Math.floor(vocabulary / 4), high: vocabulary },
        avoid: numbersNamed(config, /_(?:token_id|index)$/),
        fixed: fixed?.(config) ?? [],
        pad: number(config['pad_token_id']) ?? number(config['pad_index']) ?? 0,
      },
      attention_mask: { kind: 'mask', axes: ROW, optional: true },
      ...(types > 1 ? { token_type_ids: { kind: 'segments', axes: ROW, optional: true } as const } : {}),
      ...more,
    },
    free: ROW,
    traced: within(TRACED),
    probes: PROBES.map(within),
  };
}
