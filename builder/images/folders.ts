import { constants } from 'node:fs';
import { chmod, copyFile, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../../runtime/store/make-folder.js';
import { needsProvider, type RuntimeImage } from './runtime-image.js';
import { contextFolder } from './model-image.js';
import type { BuildPlan } from './model-plan.js';
import { render } from './render.js';
import { type ContextEntry, FIXED_MTIME } from './tar.js';

/** Folder of a runtime image's build files in `--out`. */
export function runtimeFolder(out: string, { name }: Pick<RuntimeImage, 'name'>): string {
  const colon = name.lastIndexOf(':');
  return path.resolve(out, ...name.slice(0, colon).split('/'), name.slice(colon + 1));
}

/**
 * Writes everything that a runtime image is built from, for `docker build` on a machine without this program. An existing
 * folder is not changed, because its name is a digest of its content.
 */
export async function writeRuntimeFolder(
  folder: string,
  image: RuntimeImage,
  packageRoot: string,
): Promise<void> {
  if (await stat(folder).catch(() => undefined)) return;
  const template = await readFile(path.join(packageRoot, 'templates/runtime.README.md.eta'), 'utf8');
  const readme = render(template, {
    ...image,
    base: image.baseImage,
    arguments: buildArguments(image),
    needs: needsOf(image),
  });
  const part = `${folder}.${process.pid}.part`;
  try {
    await writeEntries(part, [
      ...image.entries,
      { path: 'Dockerfile', content: image.dockerfile },
      { path: 'README.md', content: readme },
    ]);
    await rename(part, folder);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/** README of a model's build folder: what it needs, and how to build it. */
export async function modelReadme(
  plan: BuildPlan,
  { runtime, packageRoot }: { runtime: RuntimeImage; packageRoot: string },
): Promise<string> {
  const template = await readFile(path.join(packageRoot, 'templates/model.README.md.eta'), 'utf8');
  const [from, to] = [contextFolder('/', plan), runtimeFolder('/', runtime)];
  return render(template, {
    image: plan.image.references[0],
    modelId: plan.spec.id,
    runtime: runtime.name,
    runtimeFolder: path.relative(from, to),
    runtimeArguments: buildArguments(runtime),
    base: runtime.baseImage,
    baked: plan.baked,
    written: plan.spec.written !== undefined,
  });
}

function buildArguments(image: RuntimeImage): string {
  return needsProvider(image) ? ' --build-arg ORT_CUDA_SHA256=…' : '';
}

/** What a build of the image takes beside its folder. */
function needsOf(image: RuntimeImage): string {
  const { device, profile } = image;
  if (needsProvider(image))
    return ', the CUDA base image and the network, for the CUDA provider whose hash you give';
  if (device === 'cuda') return ' and the CUDA base image, and no network';
  if (device === 'vulkan') return " and the network, for Debian's drivers of Vulkan";
  return `, and ${profile === 'media' ? 'the network, for the source of ffmpeg' : 'no network'}`;
}

/** Writes the weights of a baked image into its build folder. */
export function writeWeights(folder: string, weights: readonly ContextEntry[]): Promise<void> {
  return writeEntries(folder, weights);
}

export function removeWeights(folder: string): Promise<void> {
  return rm(path.join(folder, 'weights'), { recursive: true, force: true });
}

/** Writes entries as files with the modes and times of a streamed context, so that layers are identical. */
async function writeEntries(folder: string, entries: readonly ContextEntry[]): Promise<void> {
  await makeFolder(folder);
  const folders = new Map<string, number>();
  for (const { path: name, mode, mtime, content } of entries) {
    const parts = name.split('/').filter(Boolean);
    const above = content === undefined ? parts : parts.slice(0, -1);
    for (let depth = 1; depth <= above.length; depth++) {
      const one = path.join(folder, ...above.slice(0, depth));
      if (!folders.has(one)) await makeFolder(one);
      const own = content === undefined && depth === above.length ? mode : undefined;
      folders.set(one, own ?? folders.get(one) ?? 0o755);
    }
    if (content !== undefined) await writeEntry(path.join(folder, ...parts), { mode, mtime, content });
  }
  // Writing into a folder changes its time, so set the deepest ones first.
  for (const [one, mode] of [...folders].sort(([a], [b]) => b.length - a.length)) {
    await chmod(one, mode);
    await utimes(one, FIXED_MTIME, FIXED_MTIME);
  }
}

async function writeEntry(
  file: string,
  { mode = 0o644, mtime = FIXED_MTIME, content }: Pick<ContextEntry, 'mode' | 'mtime' | 'content'>,
): Promise<void> {
  if (typeof content === 'object' && 'file' in content)
    await copyFile(content.file, file, constants.COPYFILE_FICLONE);
  else await writeFile(file, content!);
  await chmod(file, mode);
  await utimes(file, mtime, mtime);
}
