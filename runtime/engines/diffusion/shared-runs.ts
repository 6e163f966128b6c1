import { agreeTogether } from '../batching/agree-together.js';
import { createRowBatcher } from '../batching/row-batcher.js';
import type { BatchLimits } from '../batching/pick-batch.js';
import { findTensorLimits } from '../batching/tensor-limits.js';
import { shapeKey, splitRows, stackRows } from '../batching/tensor-rows.js';
import type { PooledSession } from '../sessions/session-pool.js';
import type { TensorLike, Tensors } from '../sessions/tensors.js';

/**
 * What one request gives the network for one step. Its `sample` and what it reads beside it have as many rows: two where it
 * is guided. Its `timestep` is one number.
 */
export type StepInputs = Tensors & { sample: TensorLike; timestep: TensorLike };

export type RunStep = (inputs: StepInputs, signal: AbortSignal) => Promise<Tensors>;

export interface StepSetup {
  sessions: PooledSession[];
  /** Inputs as a request gives them; each call with memory of its own. */
  sample(): StepInputs;
  /** The same for an image of usual size, where that one was smaller. */
  usual: (() => StepInputs) | undefined;
  /** Whether the graph may take a timestep for each row. */
  takesTimesteps: boolean;
  /** Whether there is memory for twice as many rows a run as have been tried. */
  mayDouble(): boolean;
}

/**
 * Steps of concurrent requests share runs where their samples have one size, and one timestep unless the graph takes one for
 * each row. What may be shared, and whether it gains anything, is found by trial.
 */
export async function shareSteps(setup: StepSetup): Promise<RunStep> {
  const { sessions } = setup;
  const { limits, perRow } = await findStepLimits(setup);
  const batcher = createRowBatcher<StepInputs, Tensors>({
    sessions,
    limits,
    lengthOf: sizeOf,
    groupOf: (inputs) => groupOf(inputs, perRow),
    compute: (parts, run) => computeSteps(parts, run, perRow),
  });
  return batcher.forward;
}

/**
 * Numbers of a row of the sample, by which the work goes: what is read beside it is long, whatever the image's size. That a
 * request has two rows is in what was tried.
 */
const sizeOf = ({ sample: { data, dims } }: StepInputs): number => data.length / dims[0]!;

function groupOf(inputs: StepInputs, perRow: boolean): string {
  const key = shapeKey(withoutTimestep(inputs));
  return perRow ? key : `${key} ${String(inputs.timestep.data[0])}`;
}

const withoutTimestep = (inputs: StepInputs): Tensors =>
  Object.fromEntries(Object.entries(inputs).filter(([name]) => name !== 'timestep'));

async function findStepLimits(setup: StepSetup): Promise<{ limits: BatchLimits; perRow: boolean }> {
  const [{ run }] = setup.sessions as [PooledSession];
  const find = (sample: () => StepInputs) =>
    findTensorLimits({
      compute: (parts: StepInputs[]) => computeSteps(parts, run, false),
      sample: (seed) => variant(sample(), seed),
      lengthOf: sizeOf,
      mayDouble: setup.mayDouble,
    });
  const small = await find(setup.sample);
  if (small.tokens === 0) return { limits: small, perRow: false };
  // Where small steps leave the machine idle, those of usual size may, too.
  const usual = setup.usual ? await find(setup.usual) : small;
  const limits = usual.tokens > small.tokens ? usual : small;
  const parts = [variant(setup.sample(), 0), atHalfTime(variant(setup.sample(), 1))];
  const together = (given: StepInputs[]) => computeSteps(given, run, true);
  const perRow = setup.takesTimesteps && (await agreeTogether(together, parts).catch(() => false));
  return { limits, perRow };
}

/** Another sample for another seed. */
function variant(inputs: StepInputs, seed: number): StepInputs {
  const { type, data, dims } = inputs.sample;
  if (seed % 2 === 0 || !(data instanceof Float32Array)) return inputs;
  return { ...inputs, sample: { type, data: data.map((value, i) => value * Math.cos(i)), dims } };
}

function atHalfTime(inputs: StepInputs): StepInputs {
  const { type, data, dims } = inputs.timestep;
  const half =
    data instanceof BigInt64Array
      ? data.map((value) => value / 2n)
      : (data as Float32Array).map((value) => value / 2);
  return { ...inputs, timestep: { type, data: half, dims } };
}

/** Runs what one request gives as it is; of several, puts rows together. */
async function computeSteps(
  parts: StepInputs[],
  run: PooledSession['run'],
  perRow: boolean,
): Promise<Tensors[]> {
  const [first] = parts as [StepInputs];
  if (parts.length === 1) return [await run(first)];
  const rows = parts.map(withoutTimestep);
  // A copy: should the run fail, each is tried alone.
  const timestep = perRow ? stackRows(parts.map(timestepRows))['timestep']! : copyOf(first.timestep);
  return splitRows(await run({ ...stackRows(rows), timestep }), rows);
}

/** The timestep for each of a request's rows. */
function timestepRows({ sample, timestep: { type, data } }: StepInputs): Tensors {
  const count = sample.dims[0]!;
  const values = new (data.constructor as Float32ArrayConstructor)(count).fill(data[0] as number);
  return { timestep: { type, data: values, dims: [count] } };
}

const copyOf = ({ type, data, dims }: TensorLike): TensorLike => ({
  type,
  data: (data as Float32Array).slice(),
  dims,
});
