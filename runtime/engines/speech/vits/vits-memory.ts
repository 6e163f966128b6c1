import type { NetworkSizes } from '../../../core/network.js';
import { runBytes } from '../../../core/run-memory.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';

const FLOAT = 4;
/** Frames that a letter or blank lasts in slow speech. */
const FRAMES = 8;
/** Tensors of a block that are in memory together. */
const TENSORS = 6;

/** Bytes of a run past which a text is refused where memory has no limit. */
export const MOST_BYTES = 2 ** 32;

/**
 * Bytes of a run over so many letters and blanks: attention among letters, and the vocoder over the frames of slow speech.
 * @param config config.json
 */
export function vitsBytes(sizes: NetworkSizes, config: Json, letters: number): number {
  const text = runBytes(sizes, { tokens: letters, attended: letters });
  return Math.round(text + frameBytes(config, letters * FRAMES));
}

/** Bytes of the vocoder over so many frames: its widest layer, whose channels halve with each of its enlargements. */
export function frameBytes(config: Json, frames: number): number {
  const rates = Array.isArray(config['upsample_rates'])
    ? (config['upsample_rates'] as number[])
    : [8, 8, 2, 2];
  let [length, channels] = [frames, firstNumber(config, 'upsample_initial_channel') ?? 512];
  let widest = length * channels;
  for (const rate of rates) {
    length *= rate;
    channels /= 2;
    widest = Math.max(widest, length * channels);
  }
  return Math.round(FLOAT * TENSORS * widest);
}
