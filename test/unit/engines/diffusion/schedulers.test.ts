import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createScheduler } from '../../../../runtime/engines/diffusion/schedulers/index.js';
import { parsePythonJson } from '../../../../runtime/core/python-json.js';

const FIXTURES = join(import.meta.dirname, '../../../fixtures');

interface Trace {
  config: Record<string, unknown>;
  num_inference_steps: number;
  set_timesteps_extra: { mu?: number; sigmas?: number[] };
  timesteps: number[];
  sigmas: number[] | null;
  init_noise_sigma: number;
  initial_sample: number[];
  steps: {
    scaled_model_input: number[];
    model_output: number[];
    noise: number[] | null;
    prev_sample: number[];
  }[];
}

interface OwnTrace {
  config: Record<string, unknown>;
  steps: number;
  extra: { eta?: number; mu?: number };
  rows: number;
  init_noise_sigma: number;
  sample: number[];
  timesteps: number[];
  sigmas?: number[];
  runs: { scaled: number[]; output: number[]; noise: number[] | null; sample: number[] }[];
}

/** Single precision, after a few steps, relative to the largest number there is. */
function expectClose(actual: ArrayLike<number>, expected: readonly number[], what: string): void {
  expect({ what, length: actual.length }).toEqual({ what, length: expected.length });
  const scale = Math.max(1, ...expected.map(Math.abs));
  const off = expected.map((value, i) => Math.abs(value - actual[i]!) / scale);
  expect({ what, off: Math.max(...off) }).toEqual({ what, off: expect.closeTo(0, 4.3) });
}

function compare(trace: OwnTrace): void {
  const { steps, rows, extra } = trace;
  const schedule = createScheduler(trace.config)({ steps, rows, ...extra });
  expectClose(schedule.timesteps, trace.timesteps, 'timesteps');
  if (trace.sigmas) expectClose(schedule.sigmas!, trace.sigmas, 'sigmas');
  expectClose([schedule.initNoiseSigma], [trace.init_noise_sigma], 'init_noise_sigma');
  let sample = Float32Array.from(trace.sample);
  for (const [index, run] of trace.runs.entries()) {
    expectClose(schedule.scale(sample, index), run.scaled, `input ${index}`);
    let drawn = false;
    sample = schedule.step(Float32Array.from(run.output), index, sample, () => {
      drawn = true;
      return Float32Array.from(run.noise ?? []);
    }) as Float32Array<ArrayBuffer>;
    expect(drawn).toBe(run.noise !== null);
    expectClose(sample, run.sample, `sample ${index}`);
  }
}

const zoo = readdirSync(join(FIXTURES, 'zoo-schedulers')).map((name) => {
  const text = readFileSync(join(FIXTURES, 'zoo-schedulers', name), 'utf8');
  return [name, parsePythonJson(text) as unknown as Trace] as const;
});

test.each(zoo)('%s as in Python', (_, trace) => {
  compare({
    config: trace.config,
    steps: trace.num_inference_steps,
    extra: trace.set_timesteps_extra,
    rows: 1,
    init_noise_sigma: trace.init_noise_sigma,
    sample: trace.initial_sample,
    timesteps: trace.timesteps,
    ...(trace.sigmas ? { sigmas: trace.sigmas } : {}),
    runs: trace.steps.map((step) => ({
      scaled: step.scaled_model_input,
      output: step.model_output,
      noise: step.noise,
      sample: step.prev_sample,
    })),
  });
});

const own = JSON.parse(readFileSync(join(FIXTURES, 'schedulers.json'), 'utf8')) as OwnTrace[];

test.each(own.map((trace, i) => [`${i} ${JSON.stringify(trace.config)}`, trace] as const))(
  '%s as in Python',
  (_, trace) => compare(trace),
);

const BAD: [Record<string, unknown>, string][] = [
  [{ _class_name: 'EDMEulerScheduler' }, 'EDMEulerScheduler is not supported'],
  [{ _class_name: 'DEISMultistepScheduler', solver_order: 4 }, 'solver_order 4'],
  [{ _class_name: 'DDIMScheduler', beta_schedule: 'sigmoid' }, 'beta_schedule "sigmoid"'],
  [{ _class_name: 'PNDMScheduler', prediction_type: 'sample' }, 'prediction_type "sample"'],
  [{ _class_name: 'UniPCMultistepScheduler', solver_p: {} }, 'solver_p'],
  [
    { _class_name: 'EulerDiscreteScheduler', use_karras_sigmas: true, use_beta_sigmas: true },
    'use_karras_sigmas',
  ],
  [{ _class_name: 'DPMSolverMultistepScheduler', algorithm_type: 'dpmsolver' }, 'final_sigmas_type zero'],
];

test.each(BAD)('%j is refused by name', (config, message) => {
  expect(() => createScheduler(config)).toThrow(message);
});

test('more steps than were trained are refused', () => {
  const start = createScheduler({ _class_name: 'DDIMScheduler', num_train_timesteps: 10 });
  expect(() => start({ steps: 11 })).toThrow('params.num_inference_steps: this model takes 10 at most');
});
