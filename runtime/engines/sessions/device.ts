import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Device } from '../../core/spec.js';

export interface DeviceChoice {
  device: Device;
  /** Why, for /status and the log. */
  reason: string;
}

/** Tries a one-node graph on the GPU; resolves with the reason when that fails. */
export type ProbeCuda = () => Promise<string | undefined>;

export class DeviceError extends Error {
  override name = 'DeviceError';
}

export type DeviceSetting = 'auto' | 'cuda' | 'cpu';

/** What is missing without the library beside the binding. */
const NO_PROVIDER = 'there is no CUDA provider here (images for cuda have one)';

/** What an engine computes with on GPUs. */
export interface GpuSupport {
  /** True where what it needs is installed. */
  installed: boolean;
  /** Said where it is not. */
  missing: string;
}

/**
 * The part of the choice that costs nothing, before a port is opened.
 * @throws DeviceError for `cuda` where no CUDA provider is installed
 */
export function checkDevice(asked: DeviceSetting, { installed, missing }: GpuSupport): void {
  if (asked === 'cuda' && !installed) throw unusable(missing);
}

/**
 * What DEVICE means on this machine. `auto` takes the GPU where one works and says why where none does; `cuda` never
 * falls back.
 * @throws DeviceError for `cuda` without a usable GPU
 */
export async function chooseDevice(
  asked: DeviceSetting,
  probe: ProbeCuda,
  { installed, missing }: GpuSupport,
): Promise<DeviceChoice> {
  if (asked === 'cpu') return { device: 'cpu', reason: 'DEVICE=cpu' };
  const problem = installed ? await probe() : missing;
  if (problem === undefined)
    return { device: 'cuda', reason: asked === 'cuda' ? 'DEVICE=cuda' : 'a GPU works' };
  if (asked === 'auto') return { device: 'cpu', reason: problem };
  throw unusable(problem);
}

function unusable(problem: string): DeviceError {
  return new DeviceError(`DEVICE is cuda, but no GPU can be used: ${problem}; use DEVICE=auto or cpu`);
}

/** Of ONNX Runtime: its provider library lies beside the binding, in images for cuda only. */
export const onnxGpuSupport = (): GpuSupport => ({ installed: hasCudaProvider(), missing: NO_PROVIDER });

function hasCudaProvider(): boolean {
  try {
    const binding = dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'));
    return existsSync(join(binding, `bin/napi-v6/linux/${process.arch}/libonnxruntime_providers_cuda.so`));
  } catch {
    // Images of other engines have no ONNX Runtime.
    return false;
  }
}
