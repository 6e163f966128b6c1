import type { GenerationSettings } from '../settings/settings.js';
import { kthLargest, sortByScore } from './rank-scores.js';

/** What can be drawn: token ids, best first, with their (unnormalised) log-probabilities. */
export interface Candidates {
  ids: number[];
  scores: number[];
}

/**
 * Temperature, top-k, top-p, min-p, typical-p, epsilon, eta, in the order of transformers' warpers.
 * @param minTokensToKeep tokens that stay whatever the settings say (beam search needs one that is not EOS)
 */
export function applyWarpers(
  scores: Float32Array,
  settings: GenerationSettings,
  minTokensToKeep = 1,
): Candidates {
  let kept = topK(scores, settings.topK && Math.max(settings.topK, minTokensToKeep), settings.temperature);
  if (settings.topP < 1) kept = topP(kept, settings.topP, minTokensToKeep);
  if (settings.minP > 0) kept = keepLikely(kept, (best) => settings.minP * best, minTokensToKeep);
  if (settings.typicalP < 1) kept = typicalP(kept, settings.typicalP, minTokensToKeep);
  if (isFraction(settings.epsilonCutoff))
    kept = keepLikely(kept, () => settings.epsilonCutoff, minTokensToKeep);
  if (isFraction(settings.etaCutoff)) kept = etaCutoff(kept, settings.etaCutoff, minTokensToKeep);
  return kept;
}

const isFraction = (value: number): boolean => value > 0 && value < 1;

function topK(scores: Float32Array, k: number, temperature: number): Candidates {
  const limit = k > 0 ? Math.min(k, scores.length) : scores.length;
  const threshold = limit < scores.length ? kthLargest(scores, limit) : -Infinity;
  const kept: number[] = [];
  // Ties with the k-th score stay in, as in Python.
  for (let i = 0; i < scores.length; i++) {
    if (scores[i]! >= threshold && scores[i]! > -Infinity) kept.push(i);
  }
  const ids = sortByScore(scores, kept);
  return { ids, scores: ids.map((id) => scores[id]! / temperature) };
}

/** Drops the tail whose probabilities sum to at most 1 - p; the best one always stays. */
function topP(from: Candidates, p: number, minTokensToKeep: number): Candidates {
  const probabilities = softmax(from.scores);
  let tail = 0;
  let keep = from.ids.length;
  while (keep > minTokensToKeep && tail + probabilities[keep - 1]! <= 1 - p) tail += probabilities[--keep]!;
  return cut(from, keep);
}

/** Keeps what is at least as likely as a limit, which may depend on the best probability. */
function keepLikely(from: Candidates, limit: (best: number) => number, minTokensToKeep: number): Candidates {
  const probabilities = softmax(from.scores);
  const best = probabilities.reduce((a, b) => Math.max(a, b), 0);
  const kept = from.ids
    .map((_, i) => i)
    .filter((i) => i < minTokensToKeep || probabilities[i]! >= limit(best));
  return pick(from, kept);
}

/** Hewitt et al. 2022: a limit that falls with the entropy. */
function etaCutoff(from: Candidates, epsilon: number, minTokensToKeep: number): Candidates {
  const eta = Math.min(epsilon, Math.sqrt(epsilon) * Math.exp(-entropyOf(softmax(from.scores))));
  return keepLikely(from, () => eta, minTokensToKeep);
}

function entropyOf(probabilities: number[]): number {
  return -probabilities.reduce((sum, q) => sum + (q > 0 ? q * Math.log(q) : 0), 0);
}

/** Keeps the tokens whose information is nearest to the expected one, up to the mass p (Meister et al. 2022). */
function typicalP(from: Candidates, p: number, minTokensToKeep: number): Candidates {
  const probabilities = softmax(from.scores);
  const entropy = entropyOf(probabilities);
  const order = probabilities
    .map((q, i) => ({ i, q, distance: Math.abs(-Math.log(q) - entropy) }))
    .sort((a, b) => a.distance - b.distance);
  let mass = 0;
  let last = -1;
  while (last < order.length - 1 && mass < p) mass += order[++last]!.q;
  const reach = order[Math.max(0, last)]!.distance;
  // What is as near as the last one stays too.
  const kept = order
    .filter(({ distance }, rank) => rank < minTokensToKeep || distance <= reach)
    .map(({ i }) => i);
  return pick(
    from,
    kept.sort((a, b) => a - b),
  );
}

function pick({ ids, scores }: Candidates, kept: number[]): Candidates {
  return { ids: kept.map((i) => ids[i]!), scores: kept.map((i) => scores[i]!) };
}

function cut({ ids, scores }: Candidates, keep: number): Candidates {
  return { ids: ids.slice(0, keep), scores: scores.slice(0, keep) };
}

/** Probabilities of scores that are sorted, the highest first. */
export function softmax(scores: number[]): number[] {
  const max = scores[0] ?? 0;
  const exp = scores.map((score) => Math.exp(score - max));
  const sum = exp.reduce((a, b) => a + b, 0);
  return exp.map((value) => value / sum);
}
