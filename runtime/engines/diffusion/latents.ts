import { randomInt } from 'node:crypto';
import { RunError } from '../../core/errors.js';
import type { ImageOptions } from '../../core/handles/index.js';
import type { Draw } from './schedulers/scheduler.js';
import { torchNormal } from '../../core/torch-generator.js';

/** Noise to start from, and where further noise comes from. */
export interface Start {
  /** Of variance 1. */
  noise: Float32Array;
  draw: Draw;
}

const SEEDS = 2 ** 47;

/**
 * The noise of a request: its own `latents`, or what its `seed` gives.
 * @throws RunError 422 for latents of another shape
 */
export function startingNoise({ latents, seed }: ImageOptions, shape: readonly number[]): Start {
  const draw = torchNormal(seed ?? randomInt(SEEDS));
  if (latents == null) return { noise: draw(shape.reduce((a, b) => a * b, 1)), draw };
  return { noise: Float32Array.from(flatten(latents, shape, shape)), draw };
}

function flatten(value: unknown, rest: readonly number[], shape: readonly number[]): number[] {
  const [length, ...inner] = rest;
  if (length === undefined) {
    if (typeof value === 'number' && Number.isFinite(Math.fround(value))) return [value];
  } else if (Array.isArray(value) && value.length === length) {
    return value.flatMap((item) => flatten(item, inner, shape));
  }
  throw new RunError(
    'unprocessable',
    `params.latents: must be nested lists of numbers in the shape ${shape.join(' x ')}`,
  );
}
