import type { GenerateOptions } from '../../../../../runtime/core/handles/index.js';
import { applyWarpers } from '../../../../../runtime/engines/generation/search/warpers.js';
import { settingsOf } from '../support.js';

/** Probability of each token that may be drawn. */
export function probabilities(request: GenerateOptions, scores: number[], least?: number): number[] {
  const kept = applyWarpers(Float32Array.from(scores), settingsOf({ do_sample: true, ...request }), least);
  const weights = kept.scores.map((score) => Math.exp(score - kept.scores[0]!));
  const sum = weights.reduce((a, b) => a + b, 0);
  const all = new Array<number>(scores.length).fill(0);
  kept.ids.forEach((id, i) => (all[id] = weights[i]! / sum));
  return all;
}
