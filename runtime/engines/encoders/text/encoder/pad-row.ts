import type { InputLimits } from './input-limits.js';
import type { TokenizerFacts } from '../../../tokenizers/patient-tokenizer.js';
import type { Encoding } from '../../../tokenizers/tokenizer.js';

/**
 * A row filled up to `length` tokens on the side that Python pads on. As it is where that is nothing to do, or where the
 * tokenizer has no padding token.
 */
export function padToLength(tokenizer: TokenizerFacts, row: Encoding, length: number): Encoding {
  const id = tokenizer.namedId('pad_token');
  const missing = length - row.ids.length;
  if (id === undefined || missing <= 0) return row;
  const left = tokenizer.paddingSide === 'left';
  const fill = (values: readonly number[], value: number) => {
    const padding = new Array<number>(missing).fill(value);
    return left ? [...padding, ...values] : [...values, ...padding];
  };
  const type = Number(tokenizer.config['pad_token_type_id'] ?? 0);
  return {
    ids: fill(row.ids, id),
    typeIds: fill(row.typeIds, type),
    mask: fill(
      row.ids.map(() => 1),
      0,
    ),
  };
}

/** A row filled up to the length that is asked for, else to the tokenizer's limit where it has one. */
export function padToLimit(
  tokenizer: TokenizerFacts,
  row: Encoding,
  { maxLength, limits }: { maxLength: number | undefined; limits: InputLimits },
): Encoding {
  const length = maxLength ?? tokenizer.modelMaxLength;
  return length === undefined ? row : padToLength(tokenizer, row, Math.min(length, limits.positions));
}
