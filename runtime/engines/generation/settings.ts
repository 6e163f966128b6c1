import { RunError } from '../../core/errors.js';
import type { GenerateOptions } from '../../core/handles.js';
import { firstNumber, type Json } from '../model-folder.js';

/** Everything one generation needs to know, with request, repository and Python's defaults already merged. */
export interface GenerationSettings {
  /** Length of the prompt in tokens. */
  promptLength: number;
  /** Most tokens that may be added. */
  maxNewTokens: number;
  minNewTokens: number;
  /** Milliseconds from the start, or Infinity. */
  maxTimeMs: number;
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
  badWords: number[][];
  sequenceBias: [number[], number][];
  suppressTokens: number[];
  beginSuppressTokens: number[];
  forcedBos: number | undefined;
  forcedEos: number[];
  /** [start, factor] */
  decayLengthPenalty: [number, number] | undefined;
  epsilonCutoff: number;
  etaCutoff: number;
  renormalize: boolean;
  numBeams: number;
  lengthPenalty: number;
  earlyStopping: boolean | 'never';
  eosTokenIds: ReadonlySet<number>;
  seed: number | undefined;
  stop: string[];
  cleanUp: boolean;
  skipSpecialTokens: boolean;
}

/** Where neither request nor repository sets a length. */
const DEFAULT_NEW_TOKENS = 256;

/** The `max_length` that Python's configuration writes when nobody set one. */
const UNSET_MAX_LENGTH = 20;

export interface SettingsInput {
  request: GenerateOptions;
  /** generation_config.json, or the generation fields of config.json where there is none. */
  repository: Json;
  promptLength: number;
  /** Longest prompt of the model in tokens, with room for one more; where it has a limit. */
  contextLength: number | undefined;
  /** False: the model goes on past `contextLength`, as Python lets models with rotary positions do. */
  hardLimit: boolean;
}

/**
 * Merges by the contract's order: request, repository, Python's defaults; nothing samples or searches beams unless
 * request or repository says so.
 * @throws RunError 422 when the prompt leaves no room, or for a combination that can't be done
 */
export function readSettings({
  request,
  repository,
  promptLength,
  contextLength,
  hardLimit,
}: SettingsInput): GenerationSettings {
  const pick = <T>(key: keyof GenerateOptions, otherwise: T): T =>
    (request[key] ?? repository[key] ?? otherwise) as T;
  const temperature = pick('temperature', 1);
  return {
    promptLength,
    maxNewTokens: newTokens({ request, repository, promptLength, contextLength, hardLimit }),
    minNewTokens: pick('min_new_tokens', Math.max(0, pick('min_length', 0) - promptLength)),
    maxTimeMs: pick('max_time', Infinity) * 1000,
    doSample: pick('do_sample', false) && temperature > 0,
    temperature,
    topK: pick('top_k', 50),
    topP: pick('top_p', 1),
    minP: pick('min_p', 0),
    typicalP: pick('typical_p', 1),
    repetitionPenalty: pick('repetition_penalty', 1),
    presencePenalty: request.presence_penalty ?? 0,
    frequencyPenalty: request.frequency_penalty ?? 0,
    noRepeatNgramSize: pick('no_repeat_ngram_size', 0),
    badWords: pick<number[][]>('bad_words_ids', []),
    sequenceBias: pick<[number[], number][]>('sequence_bias', []),
    suppressTokens: pick<number[]>('suppress_tokens', []),
    beginSuppressTokens: pick<number[]>('begin_suppress_tokens', []),
    forcedBos: pick<number | undefined>('forced_bos_token_id', undefined),
    forcedEos: [pick<number | number[]>('forced_eos_token_id', [])].flat(),
    decayLengthPenalty: pick<[number, number] | undefined>('exponential_decay_length_penalty', undefined),
    epsilonCutoff: pick('epsilon_cutoff', 0),
    etaCutoff: pick('eta_cutoff', 0),
    renormalize: pick('renormalize_logits', false),
    numBeams: pick('num_beams', 1),
    lengthPenalty: pick('length_penalty', 1),
    earlyStopping: pick<boolean | 'never'>('early_stopping', false),
    eosTokenIds: new Set([pick<number | number[]>('eos_token_id', [])].flat()),
    seed: request.seed ?? undefined,
    stop: [request.stop ?? []].flat(),
    cleanUp: request.clean_up_tokenization_spaces ?? true,
    skipSpecialTokens: request.skip_special_tokens ?? true,
  };
}

/** Room for new tokens after the prompt, within the request's or the repository's limit and the model's context. */
function newTokens({
  request,
  repository,
  promptLength,
  contextLength: context = Infinity,
  hardLimit,
}: SettingsInput): number {
  const room = context - promptLength;
  if (room < 1) {
    throw new RunError(
      'unprocessable',
      `the prompt has ${promptLength} tokens, ${1 - room} too many: this model takes ${context} with at least one ` +
        'token of answer',
    );
  }
  return Math.min(
    hardLimit ? room : Infinity,
    request.max_new_tokens ?? fromLength(request.max_length, promptLength) ?? repositoryLimit(),
  );

  function repositoryLimit(): number {
    const added = firstNumber(repository, 'max_new_tokens');
    const total = firstNumber(repository, 'max_length');
    if (added !== undefined) return added;
    if (total === undefined || total === UNSET_MAX_LENGTH) return DEFAULT_NEW_TOKENS;
    return fromLength(total, promptLength)!;
  }
}

/** `max_length` counts the prompt; one that the prompt already fills is an error, as in Python. */
function fromLength(maxLength: number | null | undefined, promptLength: number): number | undefined {
  if (maxLength == null) return undefined;
  if (maxLength > promptLength) return maxLength - promptLength;
  throw new RunError(
    'unprocessable',
    `the prompt has ${promptLength} tokens, but max_length is ${maxLength} with the prompt included; raise ` +
      'params.max_length or set params.max_new_tokens',
  );
}

/** Names under which configurations give the longest sequence. */
export function contextLengthOf(config: Json): number | undefined {
  const text = (config['text_config'] ?? config) as Json;
  return firstNumber(
    text,
    'max_position_embeddings',
    'n_positions',
    'n_ctx',
    'max_sequence_length',
    'seq_length',
  );
}

/** Families that look positions up in a table of learned vectors: past its end there is nothing to look up. */
const LEARNED_POSITIONS =
  /^(gpt2|gpt_neo|gptj|gpt_bigcode|openai-gpt|opt|biogpt|codegen|ctrl|xglm|bart|mbart|blenderbot|imagegpt)$/;

/** True where no token can follow the last position: learned tables, and graphs that hold their own position tables. */
export function endsAtContext(config: Json, inputNames: readonly string[]): boolean {
  const type = String(config['model_type'] ?? '');
  return LEARNED_POSITIONS.test(type) || !inputNames.includes('position_ids');
}
