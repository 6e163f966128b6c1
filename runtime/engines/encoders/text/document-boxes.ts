import { RunError } from '../../../core/errors.js';
import type { WordBox } from '../../../core/handles/index.js';
import type { ModelReaders } from '../../../core/readers.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import type { TokenizerFacts } from '../../tokenizers/patient-tokenizer.js';
import type { OffsetEncoding } from '../../tokenizers/tokenizer.js';

type BoxKind = ModelReaders['boxes'];

const ZERO = [0, 0, 0, 0];
const CORNER = [1000, 1000, 1000, 1000];

/**
 * Gives the boxes of a row's tokens, one after the other: that of its word for a token of the page, a fixed one for others,
 * which tokenizers of LayoutLMv2 and v3 can name.
 */
export function createBoxPlacer(tokenizer: TokenizerFacts, kind: BoxKind) {
  const own = kind === 'layoutlm' ? {} : tokenizer.config;
  const named = (key: string, otherwise: number[]) => (own[key] ?? otherwise) as number[];
  const separator = named('sep_token_box', kind === 'layoutlmv3' ? ZERO : CORNER);
  const [first, blank] = [named('cls_token_box', ZERO), named('pad_token_box', ZERO)];
  const [cls, sep] = [tokenizer.namedId('cls_token'), tokenizer.namedId('sep_token')];
  return ({ ids, sequences, words: numbers }: OffsetEncoding, words: readonly WordBox[]): number[] =>
    ids.flatMap((id, i) => {
      if (sequences[i] === 1) return words[numbers[i]!]!.box;
      if (id === sep && (kind === 'layoutlm' || sequences[i] === undefined)) return separator;
      return id === cls && sequences[i] === undefined ? first : blank;
    });
}

/** Coordinates that have an embedding where configurations name no number. */
const COORDINATES = 1024;

/** @throws RunError 422 for a box that the model has no embeddings for */
export function checkBoxes(words: readonly WordBox[], config: Json, kind: BoxKind): void {
  const most = (firstNumber(config, 'max_2d_position_embeddings') ?? COORDINATES) - 1;
  words.forEach(({ box: [left, top, right, bottom] }, i) => {
    const where = `params.word_boxes[${i}]`;
    if (Math.max(left, top, right, bottom) > most)
      throw new RunError('unprocessable', `${where}: the model takes coordinates up to ${most}`);
    // LayoutLMv3 takes such a box for an empty one.
    if (kind !== 'layoutlmv3' && (right < left || bottom < top))
      throw new RunError('unprocessable', `${where}: a box is left, top, right, bottom`);
  });
}
