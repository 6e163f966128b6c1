import { RunError } from '../../../core/errors.js';
import type { GenerateOptions, RecognitionOptions, SpeechOptions } from '../../../core/handles/index.js';
import type { AudioFeatures } from '../../processors/audio/audio-features.js';
import type { WhisperExtractor } from '../../processors/audio/whisper.js';
import { generateFromSource, lastOf, type SourceModel } from '../generate-from-source.js';
import { logSumExp } from '../search/log-softmax.js';
import type { LogitsProcessor } from '../search/logits-processor.js';
import { type Attempt, type FallbackRules, type Transcribed, transcribeWithFallback } from './fallback.js';
import type { Alignment } from './word-times/alignment.js';
import { timestampRules } from './timestamp-rules.js';
import type { WhisperTokens } from './whisper-prompt.js';

export interface WhisperModel extends SourceModel<AudioFeatures> {
  extractor: WhisperExtractor;
}

/** What is the same for all windows of a request. */
export interface Listening {
  options: Omit<RecognitionOptions, 'temperature'>;
  choice: Pick<SpeechOptions, 'language' | 'task'> & { timestamps: boolean };
  /** What stands before the words. */
  before: Pick<SpeechOptions, 'prompt_ids' | 'condition_on_prev_tokens'>;
  fallback: FallbackRules;
  /** Where times of words are asked for. */
  alignment: Alignment | undefined;
  signal: AbortSignal;
}

export interface Window {
  source: AudioFeatures;
  /** Tokens of a text before. */
  prefix: readonly number[];
  /** The tokens that the text begins with. */
  prompt: readonly number[];
}

export interface TranscribedWindow extends Transcribed {
  /** With the one that ended them. */
  allTokens: readonly number[];
}

/** Seeds of texts that are drawn one after the other lie so far apart. */
const SEED_STRIDE = 0x5851f42d;

/** Transcribes the windows of one audio clip. The tokens are without the one that ended them. */
export function createTranscriber(
  model: WhisperModel,
  tokens: WhisperTokens,
  { options, choice, fallback, signal }: Listening,
): (window: Window) => Promise<TranscribedWindow> {
  const ends = new Set([options.eos_token_id ?? model.repository['eos_token_id'] ?? []].flat() as number[]);
  /** Texts that were drawn so far. Once one was, no beams are searched, as in Python, whose settings keep it. */
  let drawn = 0;

  function optionsAt(temperature: number | undefined): GenerateOptions {
    if (temperature !== undefined && temperature > 0) {
      const offset = drawn++ * SEED_STRIDE;
      const seed = options.seed == null ? options.seed : options.seed + offset;
      return { ...options, temperature, num_beams: 1, seed };
    }
    const greedy = temperature === undefined ? options : { ...options, temperature, do_sample: false };
    return drawn > 0 ? { ...greedy, num_beams: 1 } : greedy;
  }

  return async ({ source, prefix, prompt }) => {
    const begin = [...prefix, ...prompt];
    const rules = choice.timestamps
      ? [rulesOfTimes(model, { tokens, ends, promptLength: begin.length })]
      : [];
    const attempt = async (temperature: number | undefined): Promise<Attempt> => {
      const [best] = await lastOf(
        generateFromSource(model, {
          ...{ source, sourceTokens: [], prompt: begin, rules, signal },
          options: optionsAt(temperature),
          tellsMeanLogprob: fallback.logprob !== undefined,
        }),
      );
      return { tokens: best!.tokens!, meanLogprob: best!.meanLogprob };
    };
    const silence = once(() => noSpeechProbability(model, tokens, { source, prefix, signal }));
    const transcribed = await transcribeWithFallback(fallback, attempt, silence);
    const said = ends.has(transcribed.tokens.at(-1)!) ? transcribed.tokens.slice(0, -1) : transcribed.tokens;
    return { ...transcribed, tokens: said, allTokens: transcribed.tokens };
  };
}

function once<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined;
  return () => (found ??= find());
}

function rulesOfTimes(
  { repository }: WhisperModel,
  given: { tokens: WhisperTokens; ends: ReadonlySet<number>; promptLength: number },
): LogitsProcessor {
  return timestampRules({
    noTimestamps: given.tokens.noTimestamps!,
    end: [...given.ends][0] ?? Infinity,
    promptLength: given.promptLength,
    latestStart: repository['max_initial_timestamp_index'] as number | undefined,
  });
}

/** The likeliest language of a window (detect_language). */
export async function detectLanguage(
  model: WhisperModel,
  { start, languages }: WhisperTokens,
  source: AudioFeatures,
  { signal }: Listening,
): Promise<number> {
  const scores = await scoresAfter(model, [start], { source, signal });
  const ids = Object.values(languages);
  return ids.reduce((best, id) => (scores[id]! > scores[best]! ? id : best), ids[0]!);
}

/** How likely `<|nospeech|>` is where the text begins (WhisperNoSpeechDetection). */
async function noSpeechProbability(
  model: WhisperModel,
  { start, noTimestamps }: WhisperTokens,
  { source, prefix, signal }: Pick<Window, 'source' | 'prefix'> & { signal: AbortSignal },
): Promise<number> {
  if (noTimestamps === undefined) {
    throw new RunError(
      'unprocessable',
      'params.no_speech_threshold: the repository has no no_timestamps_token_id in generation_config.json',
    );
  }
  const scores = await scoresAfter(model, [...prefix, start], { source, signal });
  return Math.exp(scores[noTimestamps - 1]! - logSumExp(scores));
}

/** Scores of the token after some. */
async function scoresAfter(
  { decoder }: WhisperModel,
  tokens: readonly number[],
  { source, signal }: { source: AudioFeatures; signal: AbortSignal },
): Promise<Float32Array> {
  const request = { maxRows: 1, maxLength: tokens.length + 1, waits: true, signal };
  const decoding = await decoder.start(source, request);
  try {
    return await decoding.prefill({ tokens });
  } finally {
    decoding.end();
  }
}
