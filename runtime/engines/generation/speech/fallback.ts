import { RunError } from '../../../core/errors.js';
import type { GenerateOptions, SpeechOptions } from '../../../core/handles/index.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { compressionRatio } from './compression-ratio.js';

/** Of WhisperConfig. */
const DEFAULT_VOCABULARY = 51865;

/** What may be asked of a text before it is taken. */
export type FallbackOptions = Pick<
  SpeechOptions,
  'compression_ratio_threshold' | 'logprob_threshold' | 'no_speech_threshold'
>;

/** When a window is transcribed again, at the next temperature, and when nothing is said in it. */
export interface FallbackRules {
  /** In the order in which they are tried; undefined: what the other options say. */
  temperatures: readonly (number | undefined)[];
  /** Texts that compress better repeat themselves. */
  compressionRatio: number | undefined;
  /** Texts whose tokens are less likely are not trusted. */
  logprob: number | undefined;
  /** Windows that hold no speech with a higher probability, and whose text is not trusted, are silent. */
  noSpeech: number | undefined;
  vocabularySize: number;
}

/**
 * Request before repository.
 * @param temperature one, or a list; nothing is drawn where `do_sample` is false
 * @throws RunError 422 for a threshold that needs another one
 */
export function fallbackRules(
  options: FallbackOptions & Pick<GenerateOptions, 'do_sample'>,
  temperature: number | readonly number[] | null | undefined,
  { repository, config }: { repository: Json; config: Json },
): FallbackRules {
  const pick = (name: keyof FallbackOptions) =>
    options[name] ?? (repository[name] as number | null | undefined) ?? undefined;
  const rules = {
    temperatures: options.do_sample === false ? [undefined] : [temperature ?? undefined].flat(),
    compressionRatio: pick('compression_ratio_threshold'),
    logprob: pick('logprob_threshold'),
    noSpeech: pick('no_speech_threshold'),
    vocabularySize: firstNumber(config, 'vocab_size') ?? DEFAULT_VOCABULARY,
  };
  if (rules.noSpeech !== undefined && rules.logprob === undefined) {
    throw new RunError(
      'unprocessable',
      'params.no_speech_threshold: counts for texts that params.logprob_threshold does not trust; set that, too',
    );
  }
  return rules;
}

/** A text of a window. */
export interface Attempt {
  /** New tokens, the one that ended the text included. */
  tokens: readonly number[];
  /** Where `logprob` is set. */
  meanLogprob: number | undefined;
}

export interface Transcribed {
  tokens: readonly number[];
  /** True: nothing is said in the window. */
  isSilent: boolean;
  /** True: the next window may go by this text. */
  isTrusted: boolean;
}

/** Texts of higher temperatures are nothing to go by. */
const LOW_TEMPERATURE = 0.5;

/**
 * Transcribes a window at one temperature after the other until a text keeps to the rules (transformers'
 * WhisperGenerationMixin.generate_with_fallback, _need_fallback). The last text counts whatever it is.
 * @param noSpeech the probability that nothing is said
 */
export async function transcribeWithFallback(
  { temperatures, ...rules }: FallbackRules,
  attempt: (temperature: number | undefined) => Promise<Attempt>,
  noSpeech: () => Promise<number>,
): Promise<Transcribed> {
  for (let i = 0; ; i++) {
    const temperature = temperatures[i];
    const { tokens, meanLogprob } = await attempt(temperature);
    const isUnlikely = rules.logprob !== undefined && meanLogprob! < rules.logprob;
    const isSilent = isUnlikely && rules.noSpeech !== undefined && (await noSpeech()) > rules.noSpeech;
    const isRepetitive =
      rules.compressionRatio !== undefined &&
      compressionRatio(tokens, rules.vocabularySize) > rules.compressionRatio;
    const isTaken = isSilent || !(isUnlikely || isRepetitive) || i === temperatures.length - 1;
    if (isTaken) return { tokens, isSilent, isTrusted: (temperature ?? 0) < LOW_TEMPERATURE };
  }
}
