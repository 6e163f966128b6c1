import { RunError } from '../../../../core/errors.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { createSingleRuns } from '../../../batching/single-runs.js';
import { graphSource } from '../../../sessions/graph-source.js';
import { openSessionPool } from '../../../sessions/session-pool.js';
import type { TensorLike } from '../../../sessions/tensors.js';
import type { EncoderRun } from './family.js';

/** Runs an encoder; features of several runs are joined by `joined`. @throws the signal's reason */
export type RunEncoder = (run: EncoderRun, signal: AbortSignal) => Promise<TensorLike>;

/** Opens a graph of the spec. It runs beside the decoder, on a thread of its own. */
export async function openEncoderRuns(request: LoadRequest, role: string): Promise<RunEncoder> {
  const path = graphSource(request, role);
  const pool = await openSessionPool({ ...request, workers: Math.min(1, request.workers) }, path);
  const run = createSingleRuns(pool);
  const { inputs, outputs } = pool;
  return async (prepare, signal) => {
    const feeds = prepare();
    const wanted = inputs.map(({ name }) => {
      const tensor = feeds[name];
      if (tensor) return [name, tensor] as const;
      throw new RunError('not_ready', `${role} wants an input that is not known: ${name}`);
    });
    return (await run(Object.fromEntries(wanted), signal))[outputs[0]!.name]!;
  };
}

/** Features of all runs of a medium as [count, width]. */
export function joined(parts: readonly TensorLike[]): TensorLike {
  const [{ type, data, dims }] = parts as [TensorLike];
  const width = dims.at(-1)!;
  if (parts.length === 1) return { type, data, dims: [data.length / width, width] };
  const total = parts.reduce((sum, part) => sum + part.data.length, 0);
  const all = new (data.constructor as Float32ArrayConstructor)(total);
  let at = 0;
  for (const part of parts) {
    all.set(part.data as Float32Array, at);
    at += part.data.length;
  }
  return { type, data: all, dims: [total / width, width] };
}
