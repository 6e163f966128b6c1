import type { Dtype } from '../../runtime/core/spec.js';

/** Below this four bits cost much: +15 % perplexity at 270 million parameters (docs/measurements.md). */
const SMALL = 0.5e9;

/**
 * What to know of a small network in four bits.
 * @param asked weight format that was asked for: what a repository has in four bits alone has no other
 * @param parameters of the network; undefined where they were not counted
 */
export function packingNote(asked: Dtype | undefined, parameters: number | undefined): string[] {
  if (!asked || !/^(?:q4|bnb4)/.test(asked) || parameters === undefined || parameters >= SMALL) return [];
  const millions = Math.max(1, Math.round(parameters / 1e6));
  return [
    `${asked} is lossy: a network of ${millions} million parameters, and all below 500 million, answer much worse in four bits; ` +
      'take --dtype q8, which answers nearly as float32 does',
  ];
}
