import { RunError } from '../../core/errors.js';
import type { PositionKind } from '../../core/readers.js';
import { firstNumber, type Json } from './model-folder.js';

/** BigBird's defaults. */
const [BLOCK, RANDOM_BLOCKS] = [64, 3];
/** At both ends, and around each block. */
const OTHER_BLOCKS = 5;

/** Most tokens of which each sees all others: of longer texts, BigBird's see blocks. Infinity for other models. */
export function fullAttentionLength(config: Json, kind: PositionKind | undefined): number {
  if (kind !== 'blocks' || config['attention_type'] === 'original_full') return Infinity;
  const block = firstNumber(config, 'block_size') ?? BLOCK;
  return (OTHER_BLOCKS + 2 * (firstNumber(config, 'num_random_blocks') ?? RANDOM_BLOCKS)) * block;
}

/** @throws RunError 422 for a text that its graph computes otherwise than Python does */
export function checkFullAttention(length: number, longest: number): void {
  if (length <= longest) return;
  throw new RunError(
    'unprocessable',
    `text: has ${length} tokens; beyond ${longest}, this model attends to blocks of a text, which its graph doesn't`,
  );
}
