import { contextTooLong } from '../../../core/context-length.js';
import { RunError } from '../../../core/errors.js';
import type { GenerateOptions } from '../../../core/handles/index.js';
import type { PositionKind } from '../../../core/readers.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { contextLengthOf } from '../../repository/sequence-lengths.js';
import type { Decoder } from '../decoding/decoder.js';

/** What decides how long an answer may get. */
export interface LengthInput {
  request: GenerateOptions;
  /** generation_config.json, or the generation fields of config.json where there is none. */
  repository: Json;
  promptLength: number;
  /** Tokens of a prefix, by which limits on the whole length are moved. */
  prefixLength?: number | undefined;
  /** Longest prompt of the model in tokens, with room for one more; where it has a limit. */
  contextLength: number | undefined;
  /** False: the model goes on past `contextLength`, as Python lets models with rotary positions do. */
  hardLimit: boolean;
}

/** Where neither request nor repository sets a length. */
const DEFAULT_NEW_TOKENS = 256;

/** The `max_length` that Python's configuration writes when nobody set one. */
const UNSET_MAX_LENGTH = 20;

/** Room for new tokens after the prompt, within the request's or the repository's limit and the model's context. */
export function maxNewTokensOf({
  request,
  repository,
  promptLength,
  prefixLength = 0,
  contextLength: context = Infinity,
  hardLimit,
}: LengthInput): number {
  const room = context - promptLength;
  const counted = promptLength - prefixLength;
  if (room < (request.count_only ? 0 : 1))
    throw contextTooLong({ subject: 'the prompt has', tokens: promptLength, context });
  return Math.min(
    hardLimit ? room : Infinity,
    request.max_new_tokens ?? fromLength(request.max_length, counted) ?? repositoryLimit(),
  );

  function repositoryLimit(): number {
    const added = firstNumber(repository, 'max_new_tokens');
    const total = firstNumber(repository, 'max_length');
    if (added !== undefined) return added;
    if (total === undefined || total === UNSET_MAX_LENGTH) return DEFAULT_NEW_TOKENS;
    return fromLength(total, counted)!;
  }
}

/** `max_length` counts the prompt, but not its prefix; one that is full already is an error, as in Python. */
function fromLength(maxLength: number | null | undefined, counted: number): number | undefined {
  if (maxLength == null) return undefined;
  if (maxLength > counted) return maxLength - counted;
  throw new RunError(
    'unprocessable',
    `the prompt has ${counted} tokens, but max_length is ${maxLength} with the prompt included; raise ` +
      'params.max_length or set params.max_new_tokens',
  );
}

/**
 * Most tokens of a text, and whether it really ends there: learned tables and graphs that hold their own position tables
 * have nothing after it, while computed positions go on.
 */
export function contextLimitOf(
  config: Json,
  { inputNames, maxPositions }: Pick<Decoder, 'inputNames' | 'maxPositions'>,
  kind: PositionKind | undefined,
): Pick<LengthInput, 'contextLength' | 'hardLimit'> {
  const length = contextLengthOf(config);
  if (maxPositions < Infinity) return { contextLength: maxPositions, hardLimit: true };
  return { contextLength: length, hardLimit: kind === 'learned' || !inputNames.includes('position_ids') };
}
