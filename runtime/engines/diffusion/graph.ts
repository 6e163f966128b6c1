import { dirname, join } from 'node:path';
import { RunError } from '../../core/errors.js';
import { numberToHalfBits } from '../../core/half.js';
import type { LoadRequest } from '../../core/load-request.js';
import { createSingleRuns } from '../batching/single-runs.js';
import { type Json, readOptionalText } from '../repository/model-folder.js';
import { parsePythonJson } from '../../core/python-json.js';
import { graphSource } from '../sessions/graph-source.js';
import { openSessionPool, type PooledSession } from '../sessions/session-pool.js';
import { type Port, type TensorLike, type Tensors, toFloat32 } from '../sessions/tensors.js';

/** Numbers for an input, in whatever type the graph wants them. */
export interface Feed {
  values: ArrayLike<number>;
  dims: readonly number[];
}

/** One of a pipeline's networks, with the configuration beside it. */
export interface Graph {
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  /** config.json of the network's folder. */
  readonly config: Json;
  readonly sessions: PooledSession[];
  /** What the graph takes of the feeds, in memory of its own. Inputs that it lacks are left out. */
  tensors(feeds: Readonly<Record<string, Feed>>): Tensors;
  /** Runs the graph, in turn with other requests. */
  run(feeds: Readonly<Record<string, Feed>>, signal: AbortSignal): Promise<Tensors>;
}

/**
 * Opens the graph of a role, on all threads: one run fills them.
 * @param feeds names of the inputs that can be given
 * @throws RunError `not_ready` for a graph that wants more than that
 */
export async function openGraph(
  request: LoadRequest,
  role: string,
  feeds: readonly string[],
): Promise<Graph> {
  const path = request.spec.graphs[role]!;
  const [pool, config] = await Promise.all([
    openSessionPool({ ...request, workers: Math.min(1, request.workers) }, graphSource(request, role)),
    graphConfig(request, role),
  ]);
  const unknown = pool.inputs.find(({ name }) => !feeds.includes(name));
  if (unknown)
    throw new RunError('not_ready', `${path} wants ${unknown.name}, which nothing here can give it`);
  const run = createSingleRuns(pool);
  const tensors = (given: Readonly<Record<string, Feed>>): Tensors => {
    const entries = pool.inputs.flatMap((port) => {
      const feed = given[port.name];
      return feed ? [[port.name, tensorFor(port, feed)] as const] : [];
    });
    return Object.fromEntries(entries);
  };
  return {
    inputs: pool.inputs,
    outputs: pool.outputs,
    config,
    sessions: pool.sessions,
    tensors,
    async run(given, signal) {
      const outputs = await run(tensors(given), signal);
      signal.throwIfAborted();
      return outputs;
    },
  };
}

/** Exporters write the configuration beside the graph, or leave it where PyTorch's weights are: in a folder, or in none. */
async function graphConfig({ dir, spec }: LoadRequest, role: string): Promise<Json> {
  const folders = [dirname(spec.graphs[role]!), role, role.replace(/_decoder$/, '')];
  for (const folder of folders.filter((one) => one !== '.')) {
    const found = await readPipelineJson(dir, join(folder, 'config.json'));
    if (found) return found;
  }
  return (await readPipelineJson(dir, 'config.json')) ?? {};
}

/** A JSON file as Python writes it; undefined where there is none. @throws RunError `not_ready` for a broken one */
export async function readPipelineJson(dir: string, name: string): Promise<Json | undefined> {
  const text = await readOptionalText(dir, name);
  if (text === undefined) return undefined;
  try {
    return parsePythonJson(text);
  } catch (cause) {
    throw new RunError('not_ready', `the model's ${name} is not valid JSON`, { cause });
  }
}

const INTEGERS = { int32: Int32Array, uint8: Uint8Array, bool: Uint8Array };

/** Fractions are cut off where a graph wants whole numbers. */
function tensorFor({ type, shape }: Port, { values, dims }: Feed): TensorLike {
  // A single number may be wanted as a list of one, or as none.
  const fitting = values.length === 1 && dims.length <= 1 ? shape.slice(0, 1).map(() => 1) : dims;
  return { type, data: dataOf(type, values), dims: fitting };
}

function dataOf(type: string, values: ArrayLike<number>): TensorLike['data'] {
  if (type === 'int64') return BigInt64Array.from(Array.from(values), (value) => BigInt(Math.trunc(value)));
  if (type === 'float16') return Uint16Array.from(values, numberToHalfBits);
  if (type === 'float64') return Float64Array.from(values);
  const Integers = INTEGERS[type as keyof typeof INTEGERS] as Int32ArrayConstructor | undefined;
  if (Integers) return Integers.from(values, Math.trunc);
  // A copy: a run takes the memory of its inputs, and conditions are read in each step.
  return Float32Array.from(values);
}

/** An output by one of its names, or the first one. */
export function outputOf(
  outputs: Tensors,
  ...names: string[]
): { values: Float32Array; dims: readonly number[] } {
  const found = names.map((name) => outputs[name]).find((tensor) => tensor !== undefined);
  const tensor = found ?? Object.values(outputs)[0]!;
  return { values: toFloat32(tensor), dims: tensor.dims };
}
