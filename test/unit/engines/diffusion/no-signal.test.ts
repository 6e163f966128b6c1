import { createScheduler } from '../../../../runtime/engines/diffusion/schedulers/index.js';

test.each(['DDIMScheduler', 'DDPMScheduler', 'LCMScheduler'])(
  '%s: where no signal is left the image is clipped, as in Python',
  (name) => {
    const settings = { clip_sample: true, rescale_betas_zero_snr: true, timestep_spacing: 'trailing' };
    const { timesteps, step } = createScheduler({ _class_name: name, ...settings })({ steps: 4 });
    expect(timesteps[0]).toBe(999);
    const [output, sample] = [Float32Array.of(0.5, -0.5, 0.1), Float32Array.of(1, -1, 0.7)];
    const next = step(output, 0, sample, (count) => new Float32Array(count));
    expect(Array.from(next).every(Number.isFinite)).toBe(true);
    expect([next[0]! > 0, next[1]! < 0]).toEqual([true, true]);
  },
);
