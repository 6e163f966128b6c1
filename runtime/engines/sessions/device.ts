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

const NO_PROVIDER = 'there is no CUDA provider here (images for cuda have one)';

/**
 * The part of the choice that costs nothing, before a port is opened.
 * @throws DeviceError for `cuda` where no CUDA provider is installed
 */
export function checkDevice(asked: DeviceSetting, hasProvider = hasCudaProvider()): void {
  if (asked === 'cuda' && !hasProvider) throw unusable(NO_PROVIDER);
}

/**
 * What DEVICE means on this machine. `auto` takes the GPU where one works and says why where none does; `cuda` never
 * falls back.
 * @throws DeviceError for `cuda` without a usable GPU
 */
export async function chooseDevice(
  asked: DeviceSetting,
  probe: ProbeCuda,
  hasProvider = hasCudaProvider(),
): Promise<DeviceChoice> {
  if (asked === 'cpu') return { device: 'cpu', reason: 'DEVICE=cpu' };
  const problem = hasProvider ? await probe() : NO_PROVIDER;
  if (problem === undefined)
    return { device: 'cuda', reason: asked === 'cuda' ? 'DEVICE=cuda' : 'a GPU works' };
  if (asked === 'auto') return { device: 'cpu', reason: problem };
  throw unusable(problem);
}

function unusable(problem: string): DeviceError {
  return new DeviceError(`DEVICE is cuda, but no GPU can be used: ${problem}; use DEVICE=auto or cpu`);
}

/** The provider library lies beside the binding, in images for cuda only. */
function hasCudaProvider(): boolean {
  const binding = dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'));
  return existsSync(join(binding, `bin/napi-v6/linux/${process.arch}/libonnxruntime_providers_cuda.so`));
}
