/** Gives the next standard normal numbers, as many as asked for. */
export type Draw = (count: number) => Float32Array;

/** How a request is denoised. */
export interface StartOptions {
  /** Runs of the network as the caller counts them; some methods need more. */
  steps: number;
  /** Images in a sample, of which each has a threshold of its own; 1 by default. */
  rows?: number;
  /** Share of fresh noise in each step (DDIM alone). */
  eta?: number;
  /** Noise levels in place of those of the schedule (flow matching alone). */
  sigmas?: readonly number[];
  /** Shift by the image's size, for schedules with `use_dynamic_shifting`. */
  mu?: number;
}

/** One request's way from noise to image. Steps are taken in order, each once. */
export interface Schedule {
  /** What the network is told, one for each of its runs; may be fractions. */
  readonly timesteps: readonly number[];
  /** Noise levels, one more than there are steps, for methods that go by them. */
  readonly sigmas?: Float32Array;
  /** Standard deviation of the noise at the start. */
  readonly initNoiseSigma: number;
  /** What the network reads at a step in place of the sample. */
  scale(sample: Float32Array, index: number): Float32Array;
  /**
   * The sample after a step.
   * @param output of the network at that step
   */
  step(output: Float32Array, index: number, sample: Float32Array, draw: Draw): Float32Array;
}

/** @throws RunError 422 for numbers of steps that the schedule can't take */
export type Scheduler = (options: StartOptions) => Schedule;

/** For methods that the network's input needs no scaling for. */
export const unscaled = (sample: Float32Array): Float32Array => sample;
