import { RunError } from '../../../core/errors.js';
import type { GenerationSettings } from '../settings/settings.js';
import { createRandom } from './random.js';
import { applyWarpers, type Candidates, softmax } from './warpers.js';

/** Chooses the next token from one row of processed scores. */
export type Sampler = (scores: Float32Array) => number;

/** @param row rows of one request draw different numbers; the first one draws what it would draw alone */
export function createSampler(settings: GenerationSettings, row = 0): Sampler {
  if (!settings.doSample) return argmax;
  const random = createRandom(settings, row);
  return (scores) => draw(applyWarpers(scores, settings), random());
}

/** The first of the highest scores. */
export function argmax(scores: Float32Array): number {
  let best = 0;
  for (let i = 1; i < scores.length; i++) if (scores[i]! > scores[best]!) best = i;
  return best;
}

/** Python fails here, too. */
export function noCandidatesError(): RunError {
  return new RunError('unprocessable', 'params: together they leave no token to draw');
}

/** @param uniform in [0, 1) */
function draw({ ids, scores }: Candidates, uniform: number): number {
  if (ids.length === 0) throw noCandidatesError();
  const probabilities = softmax(scores);
  let left = uniform;
  for (let i = 0; i < ids.length; i++) {
    left -= probabilities[i]!;
    if (left < 0) return ids[i]!;
  }
  return ids.at(-1)!;
}
