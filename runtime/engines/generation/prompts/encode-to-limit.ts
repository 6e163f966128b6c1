import { RunError } from '../../../core/errors.js';
import type { TranslationOptions } from '../../../core/handles/index.js';
import type { PositionKind } from '../../../core/readers.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import type { PatientTokenizer } from '../../tokenizers/patient-tokenizer.js';
import type { SurroundingTokens } from './language-tokens.js';
import { encoderPositions } from '../../repository/sequence-lengths.js';

/** What the encoder reads, and what the chosen languages decide. */
export interface EncoderSource {
  tokens: number[];
  /** `task_specific_params` that apply. */
  taskParams: Json;
  /** First token of the answer. */
  forcedBosTokenId?: number | undefined;
}

/** @throws RunError 400 or 422 for languages that are missing or unknown, 422 for a text without an end */
export type SourceReader = (
  text: string,
  languages: TranslationOptions,
  signal: AbortSignal,
) => Promise<EncoderSource>;

export interface SourceInput {
  tokenizer: PatientTokenizer;
  config: Json;
  positions: PositionKind | undefined;
  task: string;
}

/** Tokens of a text with special tokens around it, cut to the model's length. */
export type EncodeToLimit = (
  text: string,
  signal: AbortSignal,
  around?: SurroundingTokens,
) => Promise<number[]>;

/** Encodes texts, cut to the length of this model. */
export function createEncodeToLimit({ tokenizer, config, positions }: SourceInput): EncodeToLimit {
  const maxLength = Math.min(tokenizer.modelMaxLength ?? Infinity, encoderPositions(config, positions));
  const heads = firstNumber(config, 'encoder_attention_heads', 'num_heads') ?? 1;
  return async (text, signal, around) => {
    const ids = around ? await within(around) : (await tokenizer.encode(text, { maxLength }, signal)).ids;
    if (ids.length === 0)
      throw new RunError('invalid_input', 'text: is empty, and this model adds nothing to it');
    if (maxLength === Infinity) checkAttention(ids.length, heads);
    return ids;

    async function within({ before, after }: SurroundingTokens): Promise<number[]> {
      const room = Math.max(0, maxLength - before.length - after.length);
      const own = await tokenizer.encode(text, { maxLength: room, specialTokens: false }, signal);
      return [...before, ...own.ids, ...after];
    }
  };
}

/** Bytes of one layer's attention scores past which a text is refused where the model itself sets no limit. */
const ATTENTION_BYTES = 2 ** 31;

function checkAttention(length: number, heads: number): void {
  const longest = Math.floor(Math.sqrt(ATTENTION_BYTES / 4 / heads));
  if (length <= longest) return;
  throw new RunError(
    'unprocessable',
    `text: has ${length} tokens; more than ${longest} don't fit into memory`,
  );
}
