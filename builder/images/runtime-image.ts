import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Device, Profile } from '../../runtime/core/spec.js';
import type { Docker } from '../docker/docker.js';
import { BuilderError } from '../exit.js';
import { LABEL } from './labels.js';
import { runtimeImageName } from './names.js';
import type { PackageSource } from './packages.js';
import type { Platform } from './platform.js';
import { labelArguments, render } from './render.js';
import { contentDigest, runtimeFiles } from './runtime-files.js';
import { type ContextEntry, tarStream } from './tar.js';

/** NuGet package that holds the CUDA provider, and the base that has the libraries it links to. */
const CUDA_PROVIDER = 'microsoft.ml.onnxruntime.gpu.linux';
const CUDA_BASE = 'nvidia/cuda:12.6.3-cudnn-runtime-ubuntu24.04';

/** Which runtime image is meant. */
export interface RuntimeChoice {
  namespace: string;
  profile: Profile;
  device: Device;
  platform: Platform;
  /** Image with Node.js on glibc. */
  baseImage: string;
  version: string;
}

/** A runtime image as data: its name says what is in it. */
export interface RuntimeImage extends RuntimeChoice {
  name: string;
  dockerfile: string;
  entries: ContextEntry[];
}

/**
 * Decides the content of a runtime image and names it by that content. Reads files, needs no engine.
 * @throws BuilderError `usage` for a device that the platform does not have
 */
export async function planRuntimeImage(source: PackageSource, choice: RuntimeChoice): Promise<RuntimeImage> {
  if (choice.device === 'cuda' && choice.platform !== 'linux/amd64') {
    throw new BuilderError(
      'usage',
      '--device cuda needs --platform linux/amd64: there is no CUDA build for another',
    );
  }
  const template = await readFile(
    path.join(source.packageRoot, `templates/runtime.${choice.device}.Dockerfile.eta`),
    'utf8',
  );
  const dockerfile = renderRuntimeDockerfile(template, choice, providerUrl(source.packageRoot));
  const entries = await runtimeFiles(source, choice.profile, choice.platform);
  const digest = await contentDigest([...entries, { path: 'Dockerfile', content: dockerfile }]);
  return { ...choice, name: runtimeImageName({ ...choice, digest }), dockerfile, entries };
}

/** The Dockerfile of a runtime image. Pure. */
export function renderRuntimeDockerfile(template: string, choice: RuntimeChoice, provider: string): string {
  return render(template, {
    base: choice.baseImage,
    cudaBase: CUDA_BASE,
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

/** Address of the CUDA provider of the installed ONNX Runtime, from that package's own install script. */
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
 * Builds the image unless one of that name is there, which by its name has the same content.
 * @throws BuilderError also when the base image that the engine holds is for another platform
 */
export async function ensureRuntimeImage(image: RuntimeImage, { docker, onLine, buildArgs }: RuntimeBuild) {
  const existing = await docker.inspectImage(image.name);
  if (existing?.platform === image.platform) return { built: false };
  await refuseOtherBase(image, docker);
  if (image.device === 'cuda') demandProviderHash(image, buildArgs);
  const context = tarStream([...image.entries, { path: 'Dockerfile', content: image.dockerfile }]);
  const { platform } = await docker.info();
  await docker.buildImage(
    context,
    {
      references: [image.name],
      ...(buildArgs === undefined ? {} : { buildArgs }),
      // An engine asks a registry when a platform is named, even for an image that is there.
      ...(platform === image.platform ? {} : { platform: image.platform }),
    },
    onLine,
  );
  const made = await docker.inspectImage(image.name);
  if (made?.platform !== image.platform) throw wrongBase(image, made?.platform);
  return { built: true };
}

/** Asked for a platform, an engine would fetch the base anew and put it in the place of the one that is there. */
async function refuseOtherBase(image: RuntimeImage, docker: Docker): Promise<void> {
  if (image.device !== 'cpu') return;
  const base = await docker.inspectImage(image.baseImage);
  if (base && base.platform !== image.platform) throw wrongBase(image, base.platform);
}

/** The engine takes a base that is there although another platform was asked for: native code would not start on it. */
function wrongBase({ platform, dockerfile }: RuntimeImage, found: string | undefined): BuilderError {
  const base = /^FROM (\S+)$/m.exec(dockerfile)?.[1];
  const own = `docker pull --platform ${platform} ${base} && docker tag ${base} base-${platform.split('/')[1]}`;
  const remedy = `an engine holds one image under a name: run "${own}", then give --base-image ${platform}=base-${platform.split('/')[1]}`;
  return new BuilderError(
    'failure',
    `the base image ${base} here is for ${found}, not ${platform}; ${remedy}`,
  );
}

/** Said here as well as by the Dockerfile, because a build with a large base takes long to get there. */
function demandProviderHash(
  { dockerfile }: RuntimeImage,
  buildArgs: Record<string, string> | undefined,
): void {
  if (buildArgs?.ORT_CUDA_SHA256) return;
  const url = /^ARG ORT_CUDA_URL=(\S+)$/m.exec(dockerfile)?.[1];
  const what = `--device cuda needs --cuda-provider-sha256: the sha256 of ${url}`;
  throw new BuilderError('usage', `${what}, which you have fetched and verified`);
}
