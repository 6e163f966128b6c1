import type { GenerationSettings } from '../settings/settings.js';

/** A sequence that has ended, with its final score. */
export interface FinishedBeam {
  ids: Int32Array;
  score: number;
  /** Sum of the logarithms of its tokens' probabilities, where asked for. */
  logprob: number;
}

interface Progress {
  /** New tokens so far, this step included. */
  length: number;
  settings: GenerationSettings;
  /** False once no running beam could win any more. */
  improvable: boolean;
}

/** Adds sequences that ended in this step, with scores divided by length^penalty, and keeps the best. */
export function mergeFinished(
  finished: FinishedBeam[],
  ended: readonly FinishedBeam[],
  { length, settings, improvable }: Progress,
): FinishedBeam[] {
  const full = finished.length === settings.numBeams && settings.earlyStopping === true;
  if (full || !improvable) return finished;
  const added = ended.map(({ score, ...beam }) => ({
    ...beam,
    score: score / length ** settings.lengthPenalty,
  }));
  return [...finished, ...added].sort((a, b) => b.score - a.score).slice(0, settings.numBeams);
}

/** Whether the best running beam could still beat the worst finished one (_check_early_stop_heuristic). */
export function canImprove(
  best: number,
  finished: readonly FinishedBeam[],
  { length, settings }: Progress,
): boolean {
  if (finished.length < settings.numBeams) return true;
  const hopeful = settings.earlyStopping === 'never' && settings.lengthPenalty > 0;
  const reach = hopeful ? settings.maxNewTokens : length;
  return best / reach ** settings.lengthPenalty > finished.at(-1)!.score;
}
