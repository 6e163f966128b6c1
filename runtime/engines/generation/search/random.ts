import { randomInt } from 'node:crypto';
import type { GenerationSettings } from '../settings/settings.js';

/** Uniform numbers in [0, 1): the same ones for the same seed. */
export function createRandom({ seed }: Pick<GenerationSettings, 'seed'>, row = 0): () => number {
  return seededRandom((seed ?? randomInt(2 ** 47)) + row * ROW_STRIDE);
}

/** Far enough from 1 that neighbouring seeds share no rows. */
const ROW_STRIDE = 0x9e3779b9;

/**
 * Uniform numbers in [0, 1) from a seed, one stream per request: xoshiro128** seeded by splitmix32
 * (Blackman and Vigna 2018).
 */
function seededRandom(seed: number): () => number {
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
