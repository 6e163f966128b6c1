import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { RunError } from '../../core/errors.js';
import type { Device } from '../../core/spec.js';
import { halfBitsToNumber } from './half.js';
import { counted } from './graph-runs.js';
import { takingHalves } from './half-inputs.js';

export interface SessionOptions {
  device: Device;
  /** Intra-op threads; from the cgroup quota, not from the host's core count. */
  threads: number;
  /**
   * Keep the memory of past runs for the next ones. Right where inputs are bounded (an encoder's longest text); wrong
   * for growing ones (a decoder's cache), since what was needed once is kept for ever.
   */
  arena?: boolean;
  /** Folder of the weights, for a graph in memory. */
  weightsIn?: string;
  /** Writes the optimised graph to this path, its weights beside it in the layout of this machine's kernels. */
  optimizedTo?: string;
}

/** A tensor without its native side: it can cross threads. */
export interface TensorLike {
  readonly type: string;
  readonly data: Tensor['data'];
  readonly dims: readonly number[];
}

export function toOrtTensor({ type, data, dims }: TensorLike): Tensor {
  return new ort.Tensor(type as 'float32', data as Float32Array, dims);
}

/**
 * Opens a graph from its path, or one in memory whose weights lie in files, so that ONNX Runtime reads (or maps) the
 * weights itself and JavaScript never holds a copy. No spinning: it gains a lone run a few percent, costs up to a
 * third more CPU, and doubles times where others use the processors, too.
 */
export async function openSession(
  graph: string | Uint8Array,
  options: SessionOptions,
): Promise<InferenceSession> {
  const settings: InferenceSession.SessionOptions = {
    executionProviders: [options.device],
    intraOpNumThreads: options.threads,
    interOpNumThreads: 1,
    enableCpuMemArena: options.arena === true,
    enableMemPattern: false,
    logSeverityLevel: 3,
    ...(options.optimizedTo ? { optimizedModelFilePath: options.optimizedTo } : {}),
    extra: { session: configEntries(options) },
  };
  const session = await (typeof graph === 'string'
    ? ort.InferenceSession.create(graph, settings)
    : ort.InferenceSession.create(graph, settings));
  return counted(takingHalves(session));
}

function configEntries({ optimizedTo, weightsIn }: SessionOptions): Record<string, unknown> {
  return {
    intra_op: { allow_spinning: '0' },
    ...(optimizedTo ? EXTERNAL_WEIGHTS : {}),
    ...(weightsIn ? { model_external_initializers_file_folder_path: weightsIn } : {}),
  };
}

const EXTERNAL_WEIGHTS = {
  optimized_model_external_initializers_file_name: 'model.bin',
  optimized_model_external_initializers_min_size_in_bytes: '1024',
  save_external_prepacked_constant_initializers: '1',
};

/** Types other than int64 in which graphs want tokens, or a mask. */
export const NARROW = { int32: Int32Array, float32: Float32Array, bool: Uint8Array };

/** Integers in the type that the graph declares for this input: int64 or int32, for masks also floats and truth values. */
export function integers(
  session: InferenceSession,
  name: string,
  values: number[] | BigInt64Array,
  dims: number[],
): Tensor {
  const type = typeOf(session, name);
  if (type !== undefined && type in NARROW) {
    const Narrow = NARROW[type as keyof typeof NARROW] as Int32ArrayConstructor;
    return new ort.Tensor(type as 'int32', Narrow.from(values as number[], Number), dims);
  }
  const wide = values instanceof BigInt64Array ? values : BigInt64Array.from(values, BigInt);
  return new ort.Tensor('int64', wide, dims);
}

export function floats(values: Float32Array, dims: number[]): Tensor {
  return new ort.Tensor('float32', values, dims);
}

/** Element type that a graph declares for an input, e.g. `int64`, `float16`. */
export function typeOf(session: InferenceSession, name: string): string | undefined {
  const input = session.inputMetadata.find((entry) => entry.name === name);
  return input?.isTensor ? input.type : undefined;
}

/** Declared shape of an input: numbers where fixed, names where free. */
export function shapeOf(session: InferenceSession, name: string): readonly (number | string)[] {
  const input = session.inputMetadata.find((entry) => entry.name === name);
  return input?.isTensor ? input.shape : [];
}

/** Values of a float32 or float16 tensor as float32. */
export function toFloat32(tensor: TensorLike): Float32Array {
  if (tensor.type === 'float32') return tensor.data as Float32Array;
  if (tensor.type === 'float16') return halfToFloat(tensor.data);
  throw new RunError('engine_failed', `the graph answers ${tensor.type} where floats were expected`);
}

/** Half precision arrives as bits (Uint16Array) up to Node 22 and as Float16Array after. */
function halfToFloat(data: TensorLike['data']): Float32Array {
  if (!(data instanceof Uint16Array)) return Float32Array.from(data as unknown as ArrayLike<number>);
  return Float32Array.from(data, halfBitsToNumber);
}
