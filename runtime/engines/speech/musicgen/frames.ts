import { RunError } from '../../../core/errors.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { delayPattern } from './delay-pattern.js';

/** EncodecConfig */
const DEFAULTS = { kernel: 7, causal: true, mode: 'reflect' };

/**
 * The shortest audio clip of an export of EnCodec. Python fills what is shorter than its mirrored edges up with zeros; an export
 * keeps the branch that its sample took, which did without.
 * @param config of the codec
 */
export function fewestFrames(config: Json): number {
  if ((config['pad_mode'] ?? DEFAULTS.mode) !== 'reflect') return 1;
  const edges = (firstNumber(config, 'kernel_size') ?? DEFAULTS.kernel) - 1;
  return 1 + ((config['use_causal_conv'] ?? DEFAULTS.causal) ? edges : Math.ceil(edges / 2));
}

/** Frames that so many new tokens give: codes of a codebook that nothing forces. */
export function framesOf(tokens: number, codebooks: number): number {
  const isForced = delayPattern(codebooks, 1 + tokens);
  let frames = 0;
  for (let position = 1; position <= tokens; position++) if (!isForced(0, position)) frames++;
  return frames;
}

/**
 * More tokens may give fewer frames: from 2 · codebooks - 2 on, codebooks are delayed.
 * @throws RunError 422 for an audio clip that is too short for the codec
 */
export function requireFrames(
  tokens: number,
  { codebooks, fewest }: { codebooks: number; fewest: number },
): void {
  const frames = framesOf(tokens, codebooks);
  if (frames >= fewest) return;
  let enough = tokens + 1;
  while (framesOf(enough, codebooks) < fewest) enough++;
  throw new RunError(
    'unprocessable',
    `params.max_new_tokens: ${tokens} gives ${frames} frames of audio, and the model's export makes none of fewer than ${fewest}: ask for ${enough}`,
  );
}
