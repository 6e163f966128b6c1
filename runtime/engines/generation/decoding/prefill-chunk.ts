import { firstNumber, type Json, textConfig } from '../../repository/model-folder.js';

/** Most bytes of scores that one run may give: a long prompt times a large vocabulary would be gigabytes. */
const SCORE_BYTES = 64 * 2 ** 20;

/** Most tokens of a prompt to feed in one run. */
export function prefillChunkOf(config: Json): number {
  const vocabulary = firstNumber(textConfig(config), 'vocab_size') ?? 2 ** 15;
  return Math.max(16, Math.min(256, Math.floor(SCORE_BYTES / 4 / vocabulary)));
}
