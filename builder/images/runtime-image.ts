import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Device, Profile } from '../../runtime/core/spec.js';
import type { Docker } from '../docker/docker.js';
import { BuilderError } from '../exit.js';
import { crossCompiledFfmpeg } from './cross-ffmpeg.js';
import { LABEL } from './labels.js';
import { runtimeImageName } from './names.js';
import type { PackageSource } from './packages.js';
import type { Platform } from './platform.js';
import { labelArguments, render } from './render.js';
import { contentDigest, runtimeFiles } from './runtime-files.js';
import { type ContextEntry, tarStream } from './tar.js';

/** NuGet package with the CUDA provider, and a base image with the libraries that it needs. */
const CUDA_PROVIDER = 'microsoft.ml.onnxruntime.gpu.linux';
const CUDA_BASE = 'nvidia/cuda:12.6.3-cudnn-runtime-ubuntu24.04';
/** llama.cpp's build for CUDA links to libcudart and libcublas of this version. */
const LLAMA_CUDA_BASE = 'nvidia/cuda:13.1.0-runtime-ubuntu24.04';

/** Identifies a runtime image. */
export interface RuntimeChoice {
  namespace: string;
  profile: Profile;
  device: Device;
  platform: Platform;
  /** Image with Node.js and glibc. */
  baseImage: string;
  /** Such an image for the engine's platform, if that is another: compilers run on it. */
  hostBase?: string;
  version: string;
}

/** A planned runtime image; its name has a digest of its content. */
export interface RuntimeImage extends RuntimeChoice {
  name: string;
  dockerfile: string;
  /** Of an image for audio and video on an engine of another platform: ffmpeg is not compiled in it, but added. */
  crossDockerfile?: string;
  entries: ContextEntry[];
}

/**
 * Plans the content of a runtime image and derives its name. Reads files; needs no engine.
 * @throws BuilderError `usage` for a device that the platform does not have
 */
export async function planRuntimeImage(source: PackageSource, choice: RuntimeChoice): Promise<RuntimeImage> {
  refuseDevice(choice);
  const template = await readFile(
    path.join(source.packageRoot, `templates/${templateOf(choice)}.Dockerfile.eta`),
    'utf8',
  );
  const provider = providerUrl(source.packageRoot);
  const dockerfile = renderRuntimeDockerfile(template, choice, provider);
  const entries = await runtimeFiles(source, choice);
  const digest = await contentDigest([...entries, { path: 'Dockerfile', content: dockerfile }]);
  const cross = choice.profile === 'media' && choice.device === 'cpu';
  return {
    ...choice,
    name: runtimeImageName({ ...choice, digest }),
    dockerfile,
    ...(cross ? { crossDockerfile: renderRuntimeDockerfile(template, choice, provider, 'added') } : {}),
    entries,
  };
}

/** Models that llama.cpp computes need neither ONNX Runtime's provider nor the libraries that it links to. */
function templateOf({ profile, device }: RuntimeChoice): string {
  return profile === 'llama' && device !== 'cpu' ? `runtime.llama-${device}` : `runtime.${device}`;
}

function refuseDevice({ device, platform, profile }: RuntimeChoice): void {
  if (device === 'cpu') return;
  if (device === 'vulkan' && profile !== 'llama') {
    const what = '--device vulkan is for files of GGUF that llama.cpp computes (--engine llama)';
    throw new BuilderError('usage', `${what}; ONNX Runtime, which computes this model, takes --device cuda`);
  }
  if (platform !== 'linux/amd64') {
    const what = `--device ${device} needs --platform linux/amd64`;
    throw new BuilderError('usage', `${what}: there is no build for ${device} of another`);
  }
}

/**
 * The Dockerfile of a runtime image. Pure.
 * @param ffmpeg of the profile `media`: compiled in a stage, or added from `ffmpeg.tar` of the context
 */
export function renderRuntimeDockerfile(
  template: string,
  choice: RuntimeChoice,
  provider: string,
  ffmpeg: 'compiled' | 'added' = 'compiled',
): string {
  return render(template, {
    base: choice.baseImage,
    ffmpeg: choice.profile === 'media' ? ffmpeg : 'none',
    cudaBase: choice.profile === 'llama' ? LLAMA_CUDA_BASE : CUDA_BASE,
    providerUrl: provider,
    labels: labelArguments([
      [LABEL.runtime, `${choice.profile}-${choice.device}`],
      [LABEL.version, choice.version],
      [LABEL.platform, choice.platform],
    ]),
  });
}

interface InstallMetadata {
  feeds: { nuget: { index: string } };
  packages: Record<string, { versions: { feed: string; version: string }[] }>;
}

/** Download address of the CUDA provider, from the install script of the ONNX Runtime package. */
function providerUrl(packageRoot: string): string {
  const load = createRequire(path.join(packageRoot, 'package.json'));
  const { feeds, packages } = load('onnxruntime-node/script/install-metadata.js') as InstallMetadata;
  const { version } = packages['nuget:linux/x64:cuda12']!.versions[0]!;
  const file = `/v3-flatcontainer/${CUDA_PROVIDER}/${version}/${CUDA_PROVIDER}.${version}.nupkg`;
  return new URL(file, feeds.nuget.index).href;
}

export interface RuntimeBuild {
  docker: Docker;
  onLine: (line: string) => void;
  buildArgs?: Record<string, string>;
}

/**
 * Builds the image, unless it exists: an image of the same name has the same content.
 * @throws BuilderError also when the engine's base image is for another platform
 */
export async function ensureRuntimeImage(image: RuntimeImage, { docker, onLine, buildArgs }: RuntimeBuild) {
  const existing = await docker.inspectImage(image.name);
  if (existing?.platform === image.platform) return { built: false };
  await refuseOtherBase(image, docker);
  if (needsProvider(image)) demandProviderHash(image, buildArgs);
  const { platform } = await docker.info();
  const entries = await contextOf(image, platform, { docker, onLine, buildArgs });
  await docker.buildImage(
    tarStream(entries),
    {
      references: [image.name],
      ...(buildArgs === undefined ? {} : { buildArgs }),
      // With a platform, engines contact the registry even if they have the image.
      ...(platform === image.platform ? {} : { platform: image.platform }),
    },
    onLine,
  );
  const made = await docker.inspectImage(image.name);
  if (made?.platform !== image.platform) throw wrongBase(image, made?.platform);
  return { built: true };
}

/** The files of the build; ffmpeg is compiled first where the engine's platform is another. */
async function contextOf(image: RuntimeImage, enginePlatform: string, engine: RuntimeBuild) {
  const { crossDockerfile, platform, namespace, hostBase = image.baseImage } = image;
  if (crossDockerfile === undefined || enginePlatform === platform)
    return [...image.entries, { path: 'Dockerfile', content: image.dockerfile }];
  const script = image.entries.find((entry) => entry.path === 'ffmpeg.sh')!;
  const content = await crossCompiledFfmpeg({ namespace, script, platform, hostBase }, engine);
  return [
    ...image.entries,
    { path: 'ffmpeg.tar', content },
    { path: 'Dockerfile', content: crossDockerfile },
  ];
}

/** For another platform, an engine would fetch the base again and replace the one that it has. */
async function refuseOtherBase(image: RuntimeImage, docker: Docker): Promise<void> {
  if (image.device === 'cuda') return;
  const base = await docker.inspectImage(image.baseImage);
  if (base && base.platform !== image.platform) throw wrongBase(image, base.platform);
}

/** Engines use an existing base even if it is for another platform; native code would not start on it. */
function wrongBase({ platform, dockerfile }: RuntimeImage, found: string | undefined): BuilderError {
  const base = /^FROM (\S+)$/m.exec(dockerfile)?.[1];
  const own = `docker pull --platform ${platform} ${base} && docker tag ${base} base-${platform.split('/')[1]}`;
  const remedy = `an engine holds one image under a name: run "${own}", then give --base-image ${platform}=base-${platform.split('/')[1]}`;
  return new BuilderError(
    'failure',
    `the base image ${base} here is for ${found}, not ${platform}; ${remedy}`,
  );
}

/** ONNX Runtime's provider for CUDA is fetched while the image is built. */
export function needsProvider({ device, profile }: Pick<RuntimeChoice, 'device' | 'profile'>): boolean {
  return device === 'cuda' && profile !== 'llama';
}

/** The Dockerfile checks this, too, but only after fetching a large base image. */
function demandProviderHash(
  { dockerfile }: RuntimeImage,
  buildArgs: Record<string, string> | undefined,
): void {
  if (buildArgs?.ORT_CUDA_SHA256) return;
  const url = /^ARG ORT_CUDA_URL=(\S+)$/m.exec(dockerfile)?.[1];
  const what = `--device cuda needs --cuda-provider-sha256: the sha256 of ${url}`;
  throw new BuilderError('usage', `${what}, which you have fetched and verified`);
}
