import { randomInt } from 'node:crypto';
import { RunError } from '../../../core/errors.js';
import { sortByScore, kthLargest } from './rank-scores.js';
import type { GenerationSettings } from '../settings/settings.js';

/** Chooses the next token from one row of processed scores. */
export type Sampler = (scores: Float32Array) => number;

/** @param row rows of one request draw different numbers; the first one draws what it would draw alone */
export function createSampler(settings: GenerationSettings, row = 0): Sampler {
  if (!settings.doSample) return argmax;
  const random = createRandom(settings, row);
  return (scores) => draw(applyWarpers(scores, settings), random());
}

/** Uniform numbers in [0, 1): the same ones for the same seed. */
export function createRandom({ seed }: Pick<GenerationSettings, 'seed'>, row = 0): () => number {
  return seededRandom((seed ?? randomInt(2 ** 47)) + row * ROW_STRIDE);
}

/** Far enough from 1 that neighbouring seeds share no rows. */
const ROW_STRIDE = 0x9e3779b9;

/** The first of the highest scores. */
export function argmax(scores: Float32Array): number {
  let best = 0;
  for (let i = 1; i < scores.length; i++) if (scores[i]! > scores[best]!) best = i;
  return best;
}

/** What is left to draw from: token ids, best first, with their (unnormalised) log-probabilities. */
export interface Candidates {
  ids: number[];
  scores: number[];
}

/**
 * Temperature, top-k, top-p, min-p, typical-p, epsilon, eta, in the order of transformers' warpers.
 * @param least how many tokens stay whatever the rules say (beam search needs one that is not EOS)
 */
export function applyWarpers(scores: Float32Array, settings: GenerationSettings, least = 1): Candidates {
  let kept = topK(scores, settings.topK && Math.max(settings.topK, least), settings.temperature);
  if (settings.topP < 1) kept = topP(kept, settings.topP, least);
  if (settings.minP > 0) kept = above(kept, (best) => settings.minP * best, least);
  if (settings.typicalP < 1) kept = typicalP(kept, settings.typicalP, least);
  if (inside(settings.epsilonCutoff)) kept = above(kept, () => settings.epsilonCutoff, least);
  if (inside(settings.etaCutoff)) kept = etaCutoff(kept, settings.etaCutoff, least);
  return kept;
}

const inside = (value: number): boolean => value > 0 && value < 1;

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
function topP(from: Candidates, p: number, least: number): Candidates {
  const probabilities = softmax(from.scores);
  let tail = 0;
  let keep = from.ids.length;
  while (keep > least && tail + probabilities[keep - 1]! <= 1 - p) tail += probabilities[--keep]!;
  return cut(from, keep);
}

/** Keeps what is at least as likely as a limit, which may depend on the best probability. */
function above(from: Candidates, limit: (best: number) => number, least: number): Candidates {
  const probabilities = softmax(from.scores);
  const best = probabilities.reduce((a, b) => Math.max(a, b), 0);
  const kept = from.ids.map((_, i) => i).filter((i) => i < least || probabilities[i]! >= limit(best));
  return pick(from, kept);
}

/** Hewitt et al. 2022: a limit that falls with the entropy. */
function etaCutoff(from: Candidates, epsilon: number, least: number): Candidates {
  const eta = Math.min(epsilon, Math.sqrt(epsilon) * Math.exp(-entropyOf(softmax(from.scores))));
  return above(from, () => eta, least);
}

function entropyOf(probabilities: number[]): number {
  return -probabilities.reduce((sum, q) => sum + (q > 0 ? q * Math.log(q) : 0), 0);
}

/** Keeps the tokens whose information is nearest to the expected one, up to the mass p (Meister et al. 2022). */
function typicalP(from: Candidates, p: number, least: number): Candidates {
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
  const kept = order.filter(({ distance }, rank) => rank < least || distance <= reach).map(({ i }) => i);
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

function softmax(scores: number[]): number[] {
  const max = scores[0] ?? 0;
  const exp = scores.map((score) => Math.exp(score - max));
  const sum = exp.reduce((a, b) => a + b, 0);
  return exp.map((value) => value / sum);
}

/** Python fails there, too. */
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

/**
 * Uniform numbers in [0, 1) from a seed, one stream per request: xoshiro128** seeded by splitmix32
 * (Blackman and Vigna 2018).
 */
export function seededRandom(seed: number): () => number {
  let mix = (seed ^ Math.trunc(seed / 2 ** 32)) >>> 0;
  const splitmix = (): number => {
    mix = (mix + 0x9e3779b9) >>> 0;
    let z = mix;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  let [a, b, c, d] = [splitmix(), splitmix(), splitmix(), splitmix()];
  const next = (): number => {
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = (d << 11) | (d >>> 21);
    return result;
  };
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}
