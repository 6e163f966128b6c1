import { RunError } from '../../../core/errors.js';
import type { GenerateOptions } from '../../../core/handles/index.js';
import { type LengthInput, maxNewTokensOf } from './answer-length.js';

/** A token sequence, and what is added to the score of its last token where the others are the end of the text. */
export type Bias = readonly [sequence: readonly number[], bias: number];

/** The settings of one generation: request, repository and Python's defaults, merged. */
export interface GenerationSettings {
  /** Length of the prompt in tokens. */
  promptLength: number;
  /** Most tokens that may be added. */
  maxNewTokens: number;
  minNewTokens: number;
  /** Milliseconds from the start, or Infinity. */
  maxTimeMs: number;
  /** Nothing is written. */
  countOnly: boolean;
  doSample: boolean;
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  typicalP: number;
  repetitionPenalty: number;
  presencePenalty: number;
  frequencyPenalty: number;
  noRepeatNgramSize: number;
  /** Tokens that the encoder has read; without an encoder, the prompt. */
  sourceTokens: readonly number[];
  encoderRepetitionPenalty: number;
  encoderNoRepeatNgramSize: number;
  badWords: number[][];
  sequenceBias: Bias[];
  logitBias: Bias[];
  suppressTokens: number[];
  beginSuppressTokens: number[];
  forcedBosTokenId: number | undefined;
  forcedEosTokenIds: number[];
  /** [start, factor] */
  decayLengthPenalty: [number, number] | undefined;
  epsilonCutoff: number;
  etaCutoff: number;
  renormalize: boolean;
  removeInvalid: boolean;
  /** Classifier-free guidance; 1: none. */
  guidanceScale: number;
  numBeams: number;
  /** Answers to give. */
  numReturnSequences: number;
  /** How many of the likeliest tokens are reported beside each token; undefined: no probabilities at all. */
  logprobs: number | undefined;
  /** Pieces tell each token, before the text that it makes certain. */
  streamTokens: boolean;
  /** The same for the prompt. */
  promptLogprobs: number | undefined;
  lengthPenalty: number;
  earlyStopping: boolean | 'never';
  /** Tokens that end a text, `stopTokenIds` among them. */
  eosTokenIds: ReadonlySet<number>;
  /** Those of them whose own text is left out. */
  stopTokenIds: ReadonlySet<number>;
  seed: number | undefined;
  stop: string[];
  cleanUp: boolean;
  skipSpecialTokens: boolean;
}

export interface SettingsInput extends LengthInput {
  /** Tokens that the encoder reads; without an encoder, the prompt. */
  sourceTokens?: readonly number[] | undefined;
  /** Whether decoding joins punctuation where the request doesn't say; default true. */
  cleanUp?: boolean | undefined;
}

/** Below it scores would leave the range of numbers; what is drawn there is the best token anyway. */
const LOWEST_TEMPERATURE = 1e-6;

/**
 * Merges by the contract's order: request, repository, Python's defaults; nothing samples or searches beams unless
 * request or repository says so.
 * @throws RunError 422 when the prompt leaves no room, or for a combination that can't be done
 */
export function mergeSettings(input: SettingsInput): GenerationSettings {
  const { request, repository, promptLength } = input;
  const pick = <T>(key: keyof GenerateOptions, defaultValue: T): T =>
    (request[key] ?? repository[key] ?? defaultValue) as T;
  const temperature = pick('temperature', 1);
  // Whoever gives a temperature means it as that of sampling, unless they say otherwise.
  const sampled = request.do_sample ?? (request.temperature ? true : pick('do_sample', false));
  const ends = request.ignore_eos ? [] : pick<number | number[]>('eos_token_id', []);
  const settings: GenerationSettings = {
    promptLength,
    maxNewTokens: maxNewTokensOf(input),
    minNewTokens: minNewTokens(input),
    maxTimeMs: pick('max_time', Infinity) * 1000,
    countOnly: request.count_only === true,
    doSample: sampled && temperature > LOWEST_TEMPERATURE,
    temperature,
    // A repository's null means none, as in Python.
    topK: pick('top_k', repository['top_k'] === null ? 0 : 50),
    topP: pick('top_p', 1),
    minP: pick('min_p', 0),
    typicalP: pick('typical_p', 1),
    repetitionPenalty: pick('repetition_penalty', 1),
    presencePenalty: request.presence_penalty ?? 0,
    frequencyPenalty: request.frequency_penalty ?? 0,
    noRepeatNgramSize: pick('no_repeat_ngram_size', 0),
    sourceTokens: input.sourceTokens ?? [],
    encoderRepetitionPenalty: pick('encoder_repetition_penalty', 1),
    encoderNoRepeatNgramSize: pick('encoder_no_repeat_ngram_size', 0),
    badWords: pick<number[][]>('bad_words_ids', []),
    sequenceBias: pick<Bias[]>('sequence_bias', []),
    logitBias: Object.entries(request.logit_bias ?? {}).map(([id, bias]) => [[Number(id)], bias]),
    suppressTokens: pick<number[]>('suppress_tokens', []),
    beginSuppressTokens: pick<number[]>('begin_suppress_tokens', []),
    forcedBosTokenId: pick<number | undefined>('forced_bos_token_id', undefined),
    forcedEosTokenIds: [pick<number | number[]>('forced_eos_token_id', [])].flat(),
    decayLengthPenalty: pick<[number, number] | undefined>('exponential_decay_length_penalty', undefined),
    epsilonCutoff: pick('epsilon_cutoff', 0),
    etaCutoff: pick('eta_cutoff', 0),
    renormalize: pick('renormalize_logits', false),
    removeInvalid: pick('remove_invalid_values', false),
    guidanceScale: pick('guidance_scale', 1),
    numBeams: pick('num_beams', 1),
    numReturnSequences: request.num_return_sequences ?? 1,
    logprobs: request.logprobs ?? undefined,
    streamTokens: request.stream_tokens === true,
    promptLogprobs: request.prompt_logprobs ?? undefined,
    lengthPenalty: pick('length_penalty', 1),
    earlyStopping: pick<boolean | 'never'>('early_stopping', false),
    eosTokenIds: new Set([ends, request.stop_token_ids ?? []].flat(2)),
    stopTokenIds: new Set(request.stop_token_ids),
    seed: request.seed ?? undefined,
    stop: [request.stop ?? []].flat(),
    cleanUp: request.clean_up_tokenization_spaces ?? input.cleanUp ?? true,
    skipSpecialTokens: request.skip_special_tokens ?? true,
  };
  checkCombination(settings);
  if (settings.promptLogprobs !== undefined) checkPromptLogprobs(settings);
  return settings;
}

/** Rows of probabilities of a prompt that one answer may have, all answers together: each is an object of 200 bytes. */
const MAX_PROMPT_ROWS = 2 ** 18;

/** @throws RunError 422 for more than an answer may hold */
function checkPromptLogprobs({
  promptLogprobs = 0,
  promptLength,
  numReturnSequences,
}: GenerationSettings): void {
  const rows = promptLength * (promptLogprobs + 1) * numReturnSequences;
  if (rows <= MAX_PROMPT_ROWS) return;
  throw new RunError(
    'unprocessable',
    `params.prompt_logprobs: ${rows} rows are more than the ${MAX_PROMPT_ROWS} of one answer; ask for fewer beside each token`,
  );
}

/**
 * `min_length` counts the prompt, but in a request not the prefix. The request's word counts before the repository's,
 * whichever of the two it gives.
 */
function minNewTokens({ request, repository, promptLength, prefixLength = 0 }: SettingsInput): number {
  const rules = [
    { from: request, counted: promptLength - prefixLength },
    { from: repository as GenerateOptions, counted: promptLength },
  ];
  for (const { from, counted } of rules) {
    if (from.min_new_tokens != null) return from.min_new_tokens;
    if (from.min_length != null) return Math.max(0, from.min_length - counted);
  }
  return 0;
}

/** @throws RunError 422 for what Python refuses too, and for what has no answer */
function checkCombination({
  numReturnSequences,
  numBeams,
  doSample,
  logprobs,
  promptLogprobs,
  guidanceScale,
}: GenerationSettings): void {
  const refuse = (message: string) => new RunError('unprocessable', `params.${message}`);
  if (numBeams > 1 && numReturnSequences > numBeams) {
    throw refuse(`num_return_sequences: ${numReturnSequences} is more than num_beams, which is ${numBeams}`);
  }
  if (numBeams === 1 && numReturnSequences > 1 && !doSample) {
    throw refuse('num_return_sequences: without do_sample or num_beams all answers would be the same');
  }
  if (guidanceScale !== 1 && (numBeams > 1 || logprobs !== undefined)) {
    throw refuse('guidance_scale: goes neither with num_beams nor with logprobs');
  }
  if (guidanceScale !== 1 && promptLogprobs !== undefined) {
    throw refuse('guidance_scale: does not go with prompt_logprobs');
  }
  if (logprobs !== undefined && numBeams > 1) {
    throw refuse(`logprobs: beam search (num_beams ${numBeams}) has no probabilities of single tokens`);
  }
}
