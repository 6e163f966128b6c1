import type { Head } from '../../../runtime/core/handles/index.js';
import { modelTypeOf } from '../../../runtime/hub-config/json.js';
import type { ExportRecipe, SampleInput, Sizes } from '../types.js';
import { type Json, number, numbersNamed } from './config.js';

const SOURCE: readonly string[] = ['rows', 'length'];
/** `start` tokens of the answer are there before the first step; `generate` puts one more in front of them. */
const ANSWER: readonly string[] = ['rows', 'start'];
const TRACED: Sizes = { rows: 2, length: 9, start: 3 };
const PROBES: readonly Sizes[] = [
  { rows: 1, length: 7, start: 1 },
  { rows: 3, length: 16, start: 1 },
  { rows: 3, length: 29, start: 5 },
];

/** Names of transformers' inputs -> those that decoders of an encoder-decoder are run by here. */
const NAMES = {
  decoder_input_ids: 'input_ids',
  attention_mask: 'encoder_attention_mask',
  'encoder_outputs.last_hidden_state': 'encoder_hidden_states',
};

/** Graphs by their roles: the step that makes the caches is one of its own, since it reads no cache. */
const PARTS = {
  encoder_model: { part: 'encoder', outputs: ['last_hidden_state'] },
  decoder_model: { part: 'first', outputs: ['logits'], names: NAMES },
  decoder_with_past_model: { part: 'next', outputs: ['logits'], names: NAMES },
} as const;

/** Fields that are set for the export, by type. Sparse attention bakes the length: longer texts are refused at run time. */
const SET: Readonly<Record<string, ExportRecipe['config']>> = {
  bigbird_pegasus: { attention_type: 'original_full' },
};

type Recipes = Readonly<Record<string, Omit<ExportRecipe, 'modelType'>>>;

/** Encoder-decoders that read texts, or audio, and write texts. @returns undefined for other heads */
export function encoderDecoderRecipes(head: Head, config: Json): Recipes | string | undefined {
  const reads = sourceOf(head, config);
  if (typeof reads !== 'object') return reads;
  const written = tokensOf(config, 'decoder', ANSWER);
  if (!written) return 'config.json says no vocab_size';
  const shared = {
    ...{ class: reads.class, config: SET[modelTypeOf(config) ?? ''] ?? {}, mayMiss: [] },
    free: reads.free,
    inputs: { ...reads.inputs, decoder_input_ids: written },
    ...{ traced: reads.traced, probes: reads.probes },
  };
  return Object.fromEntries(Object.entries(PARTS).map(([role, part]) => [role, { ...shared, ...part }]));
}

type Source = Pick<ExportRecipe, 'class' | 'inputs' | 'free' | 'traced' | 'probes'>;

function sourceOf(head: Head, config: Json): Source | string | undefined {
  if (head === 'seq2seq-lm') return textSource(config);
  return head === 'speech-seq2seq' ? audioSource(config) : undefined;
}

function textSource(config: Json): Source | string {
  const tokens = tokensOf(config, 'encoder', SOURCE);
  if (!tokens) return 'config.json says no vocab_size';
  return {
    class: 'AutoModelForSeq2SeqLM',
    inputs: { input_ids: tokens, attention_mask: { kind: 'mask', axes: SOURCE } },
    free: [...SOURCE, 'start'],
    ...{ traced: TRACED, probes: PROBES },
  };
}

/** Encoders that read samples. Rows have no mask: one clip a run. */
function audioSource({ model_type: type }: Json): Source | string {
  if (type !== 'speech-encoder-decoder') return 'its kind of audio has no recipe';
  const samples = [8000, 12_345, 20_000];
  return {
    class: 'AutoModelForSpeechSeq2Seq',
    inputs: { input_values: { kind: 'noise', axes: ['rows', 'samples'] } },
    free: ['rows', 'samples', 'start'],
    traced: { rows: 2, samples: 8000, start: 3 },
    probes: PROBES.map(({ rows, start }, i) => ({ rows: rows!, samples: samples[i]!, start: start! })),
  };
}

/** FSMT names the vocabulary of each side beside the others' fields. */
const VOCABULARIES = { encoder: 'src_vocab_size', decoder: 'tgt_vocab_size' } as const;

function tokensOf(
  config: Json,
  side: keyof typeof VOCABULARIES,
  axes: readonly string[],
): SampleInput | undefined {
  const part = (config[side] ?? {}) as Json;
  const vocabulary =
    number(part['vocab_size']) ?? number(config[VOCABULARIES[side]]) ?? number(config['vocab_size']);
  if (vocabulary === undefined || vocabulary < 8) return undefined;
  const all = { ...part, ...config };
  return {
    ...{ kind: 'tokens', axes, low: Math.floor(vocabulary / 4), high: vocabulary },
    ...{ avoid: numbersNamed(all, /_token_id$/), fixed: [], pad: number(all['pad_token_id']) ?? 0 },
  };
}
