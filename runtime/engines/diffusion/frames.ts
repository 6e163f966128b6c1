import type { Schedule } from './schedulers/scheduler.js';

/** Planes of numbers in another order: [outer, inner, …] becomes [inner, outer, …]. */
function swapped(values: Float32Array, outer: number, inner: number): Float32Array {
  const result = new Float32Array(values.length);
  const plane = values.length / (outer * inner);
  for (let i = 0; i < outer; i++) {
    for (let j = 0; j < inner; j++) {
      const from = (i * inner + j) * plane;
      result.set(values.subarray(from, from + plane), (j * outer + i) * plane);
    }
  }
  return result;
}

/** [channels, frames, …] becomes [frames, channels, …]. */
export const framesFirst = (values: Float32Array, channels: number, frames: number): Float32Array =>
  swapped(values, channels, frames);

/** A schedule that takes each frame for an image, over samples with the channels first, as networks have them. */
export function withFramesFirst(schedule: Schedule, channels: number, frames: number): Schedule {
  const turned = (values: Float32Array) => framesFirst(values, channels, frames);
  return {
    ...schedule,
    step(output, index, sample, draw) {
      const next = schedule.step(turned(output), index, turned(sample), draw);
      return swapped(next, frames, channels);
    },
  };
}
