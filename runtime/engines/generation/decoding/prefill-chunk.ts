import { firstNumber, type Json, textConfig } from '../../repository/model-folder.js';
import type { DecodingRequest } from './decoder.js';

/** Most bytes of scores that one run may give: a long prompt times a large vocabulary would be gigabytes. */
const SCORE_BYTES = 64 * 2 ** 20;

const FLOAT = 4;

/** Scores are in memory twice, where the graph makes them and where they are read. */
const COPIES = 2;

const vocabularyOf = (config: Json): number => firstNumber(textConfig(config), 'vocab_size') ?? 2 ** 15;

/** Most tokens of a prompt to feed in one run. */
export function prefillChunkOf(config: Json): number {
  return Math.max(16, Math.min(256, Math.floor(SCORE_BYTES / FLOAT / vocabularyOf(config))));
}

/** Bytes that scores of all of a prompt take beside the caches. @param chunk most tokens in one run */
export function promptScoreBytes(
  { scored, promptLength = 0 }: Pick<DecodingRequest, 'scored' | 'promptLength'>,
  { config, chunk }: { config: Json; chunk: number },
): number {
  if (!scored) return 0;
  return COPIES * FLOAT * Math.min(chunk, promptLength) * vocabularyOf(config) + scored.keptBytes;
}
