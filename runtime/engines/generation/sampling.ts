import { randomInt } from 'node:crypto';
import type { GenerationSettings } from './settings.js';

/** Chooses the next token from one row of processed scores. */
export type Sampler = (scores: Float32Array) => number;

export function createSampler(settings: GenerationSettings): Sampler {
  if (!settings.doSample) return argmax;
  const random = generator(settings.seed ?? randomInt(2 ** 47));
  return (scores) => draw(warp(scores, settings), random());
}

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

/** Temperature, top-k, top-p, min-p, typical-p, in the order of transformers' warpers. */
export function warp(scores: Float32Array, settings: GenerationSettings): Candidates {
  let kept = topK(scores, settings.topK, settings.temperature);
  if (settings.topP < 1) kept = topP(kept, settings.topP);
  if (settings.minP > 0) kept = minP(kept, settings.minP);
  if (settings.typicalP < 1) kept = typicalP(kept, settings.typicalP);
  return kept;
}

function topK(scores: Float32Array, k: number, temperature: number): Candidates {
  const limit = k > 0 ? Math.min(k, scores.length) : scores.length;
  const threshold = limit < scores.length ? kthLargest(scores, limit) : -Infinity;
  const ids: number[] = [];
  // Ties with the k-th score stay in, as in Python.
  for (let i = 0; i < scores.length; i++) if (scores[i]! >= threshold && scores[i]! > -Infinity) ids.push(i);
  ids.sort((a, b) => scores[b]! - scores[a]! || a - b);
  return { ids, scores: ids.map((id) => scores[id]! / temperature) };
}

function kthLargest(scores: Float32Array, k: number): number {
  return Float32Array.from(scores).sort()[scores.length - k]!;
}

/** Drops the tail whose probabilities sum to at most 1 - p; the best one always stays. */
function topP(from: Candidates, p: number): Candidates {
  const probabilities = normalized(from.scores);
  let tail = 0;
  let keep = from.ids.length;
  while (keep > 1 && tail + probabilities[keep - 1]! <= 1 - p) tail += probabilities[--keep]!;
  return cut(from, keep);
}

/** Keeps what is at least `p` times as likely as the best. */
function minP(from: Candidates, p: number): Candidates {
  const probabilities = normalized(from.scores);
  const keep = probabilities.findIndex((probability) => probability < p * probabilities[0]!);
  return cut(from, keep === -1 ? from.ids.length : Math.max(1, keep));
}

/** Keeps the tokens whose information is nearest to the expected one, up to the mass p (Meister et al. 2022). */
function typicalP(from: Candidates, p: number): Candidates {
  const probabilities = normalized(from.scores);
  const entropy = -probabilities.reduce((sum, q) => sum + (q > 0 ? q * Math.log(q) : 0), 0);
  const order = probabilities
    .map((q, i) => ({ i, q, distance: Math.abs(-Math.log(q) - entropy) }))
    .sort((a, b) => a.distance - b.distance);
  let mass = 0;
  let count = 0;
  while (count < order.length && mass < p) mass += order[count++]!.q;
  const kept = order.slice(0, Math.max(1, count)).sort((a, b) => a.i - b.i);
  return { ids: kept.map(({ i }) => from.ids[i]!), scores: kept.map(({ i }) => from.scores[i]!) };
}

function cut({ ids, scores }: Candidates, keep: number): Candidates {
  return { ids: ids.slice(0, keep), scores: scores.slice(0, keep) };
}

function normalized(scores: number[]): number[] {
  const max = Math.max(...scores.slice(0, 1));
  const exp = scores.map((score) => Math.exp(score - max));
  const sum = exp.reduce((a, b) => a + b, 0);
  return exp.map((value) => value / sum);
}

/** @param uniform in [0, 1) */
function draw({ ids, scores }: Candidates, uniform: number): number {
  const probabilities = normalized(scores);
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
export function generator(seed: number): () => number {
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
