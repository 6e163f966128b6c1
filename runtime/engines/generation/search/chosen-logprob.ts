import type { GenerationSettings } from '../settings/settings.js';
import { logSumExp } from './log-softmax.js';
import { applyWarpers } from './warpers.js';

/**
 * The logarithm of a token's probability among what was left to choose from, at a temperature of 1
 * (WhisperGenerationMixin._retrieve_avg_logprobs).
 * @param scores after all processors
 */
export function chosenLogprob(scores: Float32Array, id: number, settings: GenerationSettings): number {
  if (!settings.doSample) return scores[id]! - logSumExp(scores);
  const kept = applyWarpers(scores, settings);
  const unscaled = Float32Array.from(kept.scores, (score) => score * settings.temperature);
  return unscaled[kept.ids.indexOf(id)]! - logSumExp(unscaled);
}
