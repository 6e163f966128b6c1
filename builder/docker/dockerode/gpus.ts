import { existsSync } from 'node:fs';
import type Dockerode from 'dockerode';
import type { Device } from '../../../runtime/core/spec.js';

/** The kernel's files of GPUs; those of NVIDIA need its toolkit beside them. */
const RENDER_FOLDER = '/dev/dri';

/** The answer of the engine's `/info`. */
interface Info {
  Runtimes?: object;
}

/** What images can compute on here, where the engine is local. */
export function engineDevices({ Runtimes = {} }: Info): Device[] {
  if ('nvidia' in Runtimes) return ['cpu', 'cuda', 'vulkan'];
  return existsSync(RENDER_FOLDER) ? ['cpu', 'vulkan'] : ['cpu'];
}

export type GpuSettings = Pick<Dockerode.HostConfig, 'DeviceRequests' | 'Devices'>;

/**
 * What the engine gives a container so that an image for `device` sees the GPUs: through NVIDIA's toolkit where the engine has it,
 * else the files of the kernel, which drivers in an image for Vulkan open.
 */
export async function gpuSettings(client: { info(): Promise<Info> }, device: Device): Promise<GpuSettings> {
  if (device === 'cpu') return {};
  if (device === 'vulkan' && !engineDevices(await client.info()).includes('cuda')) {
    const [PathOnHost, PathInContainer] = [RENDER_FOLDER, RENDER_FOLDER];
    return { Devices: [{ PathOnHost, PathInContainer, CgroupPermissions: 'rw' }] };
  }
  return { DeviceRequests: [{ Driver: 'nvidia', Count: -1, Capabilities: [['gpu']] }] };
}
