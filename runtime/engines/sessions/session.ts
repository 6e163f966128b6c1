import ort from 'onnxruntime-node';
import type { InferenceSession } from 'onnxruntime-node';
import type { Device } from '../../core/spec.js';
import { countRuns } from './graph-runs.js';
import type { GraphSource } from './graph-source.js';
import { acceptHalfInputs } from './half-inputs.js';
import { inPlace } from './in-place.js';
import { requireMappings } from './mappings.js';

export interface SessionOptions {
  device: Device;
  /** Intra-op threads; from the cgroup quota, not from the host's core count. */
  threads: number;
  /**
   * Keep the memory of past runs for the next ones. Right where inputs are bounded (an encoder's longest text); wrong
   * for growing ones (a decoder's cache), since what was needed once is kept for ever.
   */
  arena?: boolean;
  /** Writes the optimised graph to this path, its weights beside it in the layout of this machine's kernels. */
  optimizedTo?: string;
}

/**
 * Opens a graph from its path, or one in memory whose weights lie in files, so that ONNX Runtime reads (or maps) the
 * weights itself and JavaScript never holds a copy.
 * @throws RunError not_ready for more tensors than this machine can map
 */
export async function openSession(source: GraphSource, options: SessionOptions): Promise<InferenceSession> {
  const graph = typeof source === 'string' ? inPlace(source) : source;
  if (typeof graph !== 'string') requireMappings(graph.bytes);
  const settings: InferenceSession.SessionOptions = {
    executionProviders: [options.device],
    intraOpNumThreads: options.threads,
    interOpNumThreads: 1,
    enableCpuMemArena: options.arena === true,
    enableMemPattern: false,
    logSeverityLevel: 3,
    ...(options.optimizedTo ? { optimizedModelFilePath: options.optimizedTo } : {}),
    extra: { session: configEntries(graph, options) },
  };
  const session = await (typeof graph === 'string'
    ? ort.InferenceSession.create(graph, settings)
    : ort.InferenceSession.create(graph.bytes, settings));
  return countRuns(acceptHalfInputs(session));
}

/**
 * How long threads of a run that have nothing to do stay awake. Most wait for each other no longer than that between two
 * operators, and a sleeping one takes longer to wake up: one stream of q8 takes a third less time, a short text a
 * seventh. ONNX Runtime's own choice, a second and more, doubles times where others use the processors, too; 20 take a
 * tenth more there (bench/neighbour.mjs).
 */
const AWAKE_US = '10';

function configEntries(graph: GraphSource, { optimizedTo }: SessionOptions): Record<string, unknown> {
  return {
    intra_op: { allow_spinning: '1', spin_duration_us: AWAKE_US },
    ...(optimizedTo ? EXTERNAL_WEIGHTS : {}),
    ...(typeof graph === 'string' ? {} : { model_external_initializers_file_folder_path: graph.weightsIn }),
  };
}

const EXTERNAL_WEIGHTS = {
  optimized_model_external_initializers_file_name: 'model.bin',
  optimized_model_external_initializers_min_size_in_bytes: '1024',
  save_external_prepacked_constant_initializers: '1',
};
