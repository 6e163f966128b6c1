import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Device, Profile } from '../../runtime/core/spec.js';
import { BuilderError } from '../exit.js';
import { packageFolders, packageParts, type PackageSource } from './packages.js';
import type { Platform } from './platform.js';
import type { ContextEntry } from './tar.js';

/** Files that are never read at run time. */
const UNUSED = /(?<!\/?LICENSE)\.(?:d\.[cm]?ts|map|md|h)$/i;

/** Two layers, packages below the server: a new server changes only a few megabytes. */
const PACKAGES = 'packages/server/node_modules';
const SERVER = 'server/server';

/** World-writable like /tmp, so that `--user N` can write weights. */
const MODEL_FOLDER: ContextEntry = { path: `${SERVER}/model/`, mode: 0o1777 };

/**
 * All files that a runtime image adds to its base: one layer's under `packages/`, the other's under `server/`.
 * @throws BuilderError `failure` when the server has not been built
 */
export async function runtimeFiles(
  source: PackageSource,
  { profile, platform, device }: { profile: Profile; platform: Platform; device: Device },
): Promise<ContextEntry[]> {
  const parts = packageParts(profile, platform, device);
  const folders = await packageFolders(source, parts, platform);
  const packages = await Promise.all(
    parts.map(async ({ name, keep }) => {
      const wanted = (file: string) =>
        keep.some((prefix) => prefix === './' || file === prefix || inside(file, prefix));
      return entriesOf(folders.get(name)!, `${PACKAGES}/${name}`, wanted);
    }),
  );
  const healthcheck = await readFile(path.join(source.packageRoot, 'templates/healthcheck.mjs'));
  return [
    ...(profile === 'media' ? [await ffmpegScript(source.packageRoot)] : []),
    ...(profile === 'llama' ? [await llamaLicence(source.packageRoot)] : []),
    ...(await serverFiles(source.packageRoot)),
    { path: `${SERVER}/healthcheck.mjs`, content: healthcheck },
    MODEL_FOLDER,
    ...packages.flat(),
  ];
}

/** What compiles the ffmpeg of a stage of the image. */
async function ffmpegScript(packageRoot: string): Promise<ContextEntry> {
  const content = await readFile(path.join(packageRoot, 'templates/ffmpeg.sh'));
  return { path: 'ffmpeg.sh', content };
}

/** Of what the package of the library was compiled from. */
async function llamaLicence(packageRoot: string): Promise<ContextEntry> {
  const content = await readFile(path.join(packageRoot, 'templates/licenses/llama.cpp.txt'));
  return { path: `${PACKAGES}/@node-llama-cpp/LICENSE.llama.cpp`, content };
}

function inside(file: string, prefix: string): boolean {
  if (prefix.endsWith('*')) return file.startsWith(prefix.slice(0, -1));
  return prefix.endsWith('/') && file.startsWith(prefix);
}

async function serverFiles(packageRoot: string): Promise<ContextEntry[]> {
  const folder = path.join(packageRoot, 'dist/image');
  const files = await entriesOf(folder, SERVER, () => true).catch(() => []);
  if (files.some((file) => file.path === `${SERVER}/main.mjs`)) return files;
  throw new BuilderError('failure', 'the server is not built; run "npm run build" first');
}

async function entriesOf(
  folder: string,
  target: string,
  wanted: (file: string) => boolean,
): Promise<ContextEntry[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((file) => wanted(file) && !UNUSED.test(file) && !file.startsWith('node_modules/'));
  return Promise.all(
    files.map(async (file) => {
      const from = path.join(folder, file);
      return { path: `${target}/${file}`, content: { file: from, size: (await stat(from)).size } };
    }),
  );
}

/** Hex SHA-256 over paths, modes and contents; equal for equal images. */
export async function contentDigest(entries: readonly ContextEntry[]): Promise<string> {
  const lines = await Promise.all(
    entries.map(
      async ({ path: name, mode, content }) => `${name}\0${mode ?? ''}\0${await digestOf(content)}`,
    ),
  );
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
}

async function digestOf(content: ContextEntry['content']): Promise<string> {
  const hash = createHash('sha256');
  if (content === undefined) return '';
  if (typeof content === 'string' || Buffer.isBuffer(content)) return hash.update(content).digest('hex');
  await pipeline(createReadStream(content.file, { highWaterMark: 2 ** 20 }), hash);
  return hash.digest('hex');
}
