import type { StepwiseWork } from '../../core/handles/index.js';
import type { Start } from './latents.js';
import type { Schedule } from './schedulers/scheduler.js';

export interface Denoising {
  schedule: Schedule;
  start: Start;
  /** The network's output for a sample, as it is to be read, at a timestep. */
  predict(sample: Float32Array, timestep: number): Promise<Float32Array>;
  work: StepwiseWork;
}

/** From noise to the sample that the network makes of it. Ends between two steps when the signal aborts. */
export async function denoise({ schedule, start, predict, work }: Denoising): Promise<Float32Array> {
  const steps = schedule.timesteps.length;
  let sample = start.noise.map((value) => value * schedule.initNoiseSigma);
  for (const [index, timestep] of schedule.timesteps.entries()) {
    work.signal.throwIfAborted();
    work.tell({ step: index, steps });
    const output = await predict(schedule.scale(sample, index), timestep);
    sample = schedule.step(output, index, sample, start.draw) as typeof sample;
  }
  work.tell({ step: steps, steps });
  return sample;
}
