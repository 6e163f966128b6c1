import { totalBytes } from '../../runtime/core/spec.js';
import type { Device, ModelSpec } from '../../runtime/core/spec.js';
import type { CommandDeps } from '../deps.js';
import { BuilderError } from '../exit.js';
import { hasGpuPackages, packageParts } from '../images/packages.js';
import { hostPlatform } from '../images/platform.js';
import { planRuntimeImage, type RuntimeImage } from '../images/runtime-image.js';
import { DEFAULT_BASE_IMAGE } from '../options.js';

export interface ImageSize {
  /** Bytes of the runtime image with its base; null when not known. */
  runtimeBytes: number | null;
  /** Bytes of the model's files, which --bake adds to the image. */
  weightBytes: number;
  totalBytes: number | null;
  /** measured: on the engine's image. estimated: base image plus files. unknown: see reason. */
  basis: 'measured' | 'estimated' | 'unknown';
  reason?: string;
}

interface Request {
  spec: ModelSpec;
  device: Device;
  /** Folder for packages of other platforms. */
  cache: string;
}

/** Predicts the size on disk of an image with its weights; uses the engine if it answers. */
export async function predictImageSize(request: Request, deps: CommandDeps): Promise<ImageSize> {
  const weightBytes = totalBytes(request.spec);
  const runtime = await runtimeSize(request, deps);
  const total = runtime.runtimeBytes === null ? null : runtime.runtimeBytes + weightBytes;
  return { ...runtime, weightBytes, totalBytes: total };
}

type RuntimeSize = Pick<ImageSize, 'runtimeBytes' | 'basis' | 'reason'>;

const unknown = (reason: string): RuntimeSize => ({ runtimeBytes: null, basis: 'unknown', reason });

async function runtimeSize({ spec, device, cache }: Request, deps: CommandDeps): Promise<RuntimeSize> {
  const { docker, packageRoot, version } = deps;
  const platform = device === 'cpu' ? hostPlatform() : 'linux/amd64';
  const choice = {
    namespace: 'slipway',
    profile: spec.profile,
    device,
    platform,
    baseImage: DEFAULT_BASE_IMAGE,
  };
  const source = { packageRoot, cache };
  if (!hasGpuPackages(source, packageParts(spec.profile, platform, device))) return notBuilt(device);
  try {
    const runtime = await planRuntimeImage(source, { ...choice, version });
    const there = await docker.inspectImage(runtime.name);
    if (there) return { runtimeBytes: there.size, basis: 'measured' };
    if (device !== 'cpu') return notBuilt(device);
    const base = await docker.inspectImage(DEFAULT_BASE_IMAGE);
    if (!base) return unknown(`the base image ${DEFAULT_BASE_IMAGE} is not here; "docker pull" it to know`);
    return { runtimeBytes: base.size + addedBytes(runtime), basis: 'estimated' };
  } catch (error) {
    if (error instanceof BuilderError) return unknown(error.message);
    throw error;
  }
}

const NAMES = { cpu: 'CPU', cuda: 'CUDA', vulkan: 'Vulkan' };

const notBuilt = (device: Device): RuntimeSize =>
  unknown(`no ${NAMES[device]} image has been built here, and its libraries are not fetched to tell`);

/** What is compiled in a stage of the image: ffmpeg and the libraries that it needs, measured on linux/amd64. */
const FFMPEG_BYTES = 16_150_000;

function addedBytes({ entries, profile }: RuntimeImage): number {
  const compiled = profile === 'media' ? FFMPEG_BYTES : 0;
  return entries.reduce((sum, { content }) => {
    if (content === undefined) return sum;
    if (typeof content === 'string') return sum + Buffer.byteLength(content);
    return sum + (Buffer.isBuffer(content) ? content.length : content.size);
  }, compiled);
}
