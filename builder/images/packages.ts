import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Device, Profile } from '../../runtime/core/spec.js';
import { makeFolder } from '../../runtime/store/make-folder.js';
import { BuilderError } from '../exit.js';
import { GPU_PACKAGES } from './gpu-packages.js';
import { nodeArch, type Platform } from './platform.js';

const execFileAsync = promisify(execFile);

/** An npm package of a runtime image, and the files that the server needs of it. */
export interface PackagePart {
  name: string;
  /** The package that requires it, if that may have its own copy. */
  of?: string;
  /** File paths, or beginnings of paths (ending with a slash or a star) inside the package. */
  keep: readonly string[];
}

/** The packages in /server/node_modules: those with native code, and what they load. */
export function packageParts(profile: Profile, platform: Platform, device: Device = 'cpu'): PackagePart[] {
  const arch = nodeArch(platform);
  if (profile === 'llama') return llamaParts(arch, device);
  const base: PackagePart[] = [
    { name: 'onnxruntime-node', keep: ['package.json', 'dist/', `bin/napi-v6/linux/${arch}/`] },
    { name: 'onnxruntime-common', of: 'onnxruntime-node', keep: ['package.json', 'dist/cjs/'] },
  ];
  if (profile === 'text') return base;
  const of = 'sharp';
  const whole = ['@img/colour', 'detect-libc', ...nativeSharp(arch)].map((name) => ({
    name,
    of,
    keep: ['./'],
  }));
  const semver = ['package.json', 'LICENSE', 'index.js', 'classes/', 'functions/', 'internal/', 'ranges/'];
  return [
    ...base,
    { name: 'sharp', keep: ['package.json', 'LICENSE', 'dist/'] },
    { name: 'semver', of, keep: semver },
    ...whole,
  ];
}

/** llama.cpp and what calls it; neither its JavaScript nor its addon for Node.js. Builds for GPUs hold that for processors. */
function llamaParts(arch: string, device: Device): PackagePart[] {
  const [koffi] = nativeLlama(arch);
  const build = device === 'cpu' ? `linux-${arch}` : `linux-${arch}-${device}`;
  const bins = `bins/${build}/`;
  return [
    {
      name: 'koffi',
      keep: ['package.json', 'LICENSE.txt', 'index.js', 'src/koffi/index.js', 'src/koffi/src/static.js'],
    },
    { name: koffi!, of: 'koffi', keep: ['package.json', 'index.js', `linux_${arch}/`] },
    {
      name: `@node-llama-cpp/${build}`,
      keep: ['package.json', 'LICENSE', 'dist/', `${bins}libggml*`, `${bins}libllama.*`],
    },
  ];
}

const nativeLlama = (arch: string): string[] => [
  `@koromix/koffi-linux-${arch}`,
  `@node-llama-cpp/linux-${arch}`,
];

function nativeSharp(arch: string): string[] {
  return [`@img/sharp-linux-${arch}`, `@img/sharp-libvips-linux-${arch}`];
}

/** The folder of an installed package as Node resolves it from `root`, or undefined. */
export function installedFolder(root: string, name: string): string | undefined {
  const places = createRequire(path.join(root, 'package.json')).resolve.paths(name) ?? [];
  return places
    .map((place) => path.join(place, name))
    .find((folder) => existsSync(path.join(folder, 'package.json')));
}

export interface PackageSource {
  /** Folder of this program's package.json. */
  packageRoot: string;
  /** Cache folder for packages of other platforms. */
  cache: string;
}

/**
 * Finds the folders of the parts; packages for other platforms are fetched from npm once.
 * @throws BuilderError `failure` when a package is missing, `network` when npm can't fetch one
 */
export async function packageFolders(
  source: PackageSource,
  parts: readonly PackagePart[],
  platform: Platform,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { name, of } of parts) {
    const requirer = (of && installedFolder(source.packageRoot, of)) ?? source.packageRoot;
    const folder = installedFolder(requirer, name) ?? (await foreignFolder(source, name, platform));
    found.set(name, folder);
  }
  return found;
}

async function foreignFolder(source: PackageSource, name: string, platform: Platform): Promise<string> {
  const arch = nodeArch(platform);
  const pinned = pinnedPackage(name);
  if (pinned) return installedOnce(source, pinned, platform, name);
  const group = [nativeSharp(arch), nativeLlama(arch)].find((names) => names.includes(name));
  if (!group) {
    throw new BuilderError(
      'failure',
      `the package ${name} is not installed; run "npm ci --ignore-scripts" first`,
    );
  }
  return installedOnce(source, await lockedPackages(source.packageRoot, group), platform, name);
}

async function installedOnce(
  source: PackageSource,
  packages: Record<string, Locked>,
  platform: Platform,
  name: string,
): Promise<string> {
  const folder = nativesFolder(source, packages);
  if (!existsSync(folder)) await install(folder, packages, platform);
  return path.join(folder, 'node_modules', name);
}

function nativesFolder({ cache }: PackageSource, packages: Record<string, Locked>): string {
  return path.join(cache, 'natives', Object.values(packages).map(nameOf).join('+'));
}

/** True where no package for a GPU has yet to be fetched, which takes minutes. */
export function hasGpuPackages(source: PackageSource, parts: readonly PackagePart[]): boolean {
  return parts.every(({ name }) => {
    const pinned = pinnedPackage(name);
    return pinned === undefined || existsSync(nativesFolder(source, pinned));
  });
}

/** A package for a GPU as a lockfile has it; undefined for others. */
function pinnedPackage(name: string): Record<string, Locked> | undefined {
  const pinned = GPU_PACKAGES[name];
  return pinned && { [`node_modules/${name}`]: { name, ...pinned } };
}

/** An entry of npm-shrinkwrap.json, the lockfile of a checkout and of the installed program. */
interface Locked {
  name: string;
  version: string;
  integrity?: string;
}

const nameOf = ({ name, version }: Locked): string => `${name.slice(name.indexOf('/') + 1)}-${version}`;

/** Versions from the lockfile; for packages not in it, from those that ask for them. */
async function lockedPackages(root: string, names: readonly string[]): Promise<Record<string, Locked>> {
  const lock = await readJson<{ packages: Record<string, Omit<Locked, 'name'>> }>(
    root,
    'npm-shrinkwrap.json',
  );
  const askers = [root, installedFolder(root, 'sharp') ?? root, installedFolder(root, 'koffi') ?? root];
  const asked = await Promise.all(
    askers.map((folder) =>
      readJson<{ optionalDependencies?: Record<string, string> }>(folder, 'package.json'),
    ),
  );
  const versions: Record<string, string | undefined> = Object.assign(
    {},
    ...asked.map((json) => json?.optionalDependencies),
  );
  const entries = names.map((name) => {
    const key = `node_modules/${name}`;
    const { version, integrity } = lock?.packages[key] ?? { version: versions[name] };
    if (version === undefined) throw new BuilderError('failure', `no package asks for ${name}`);
    return [key, { name, version, ...(integrity === undefined ? {} : { integrity }) }];
  });
  return Object.fromEntries(entries) as Record<string, Locked>;
}

async function readJson<T>(folder: string, file: string): Promise<T | undefined> {
  const place = path.join(folder, file);
  return existsSync(place) ? (JSON.parse(await readFile(place, 'utf8')) as T) : undefined;
}

/** npm checks the hashes of the lockfile; no scripts of packages run. */
async function install(folder: string, packages: Record<string, Locked>, platform: Platform): Promise<void> {
  const staging = `${folder}.${process.pid}`;
  const dependencies = Object.fromEntries(
    Object.values(packages).map(({ name, version }) => [name, version]),
  );
  const project = { name: 'natives', version: '0.0.0', dependencies };
  const lock = { ...project, lockfileVersion: 3, packages: { '': project, ...packages } };
  const flags = [
    '--os=linux',
    `--cpu=${nodeArch(platform)}`,
    '--libc=glibc',
    '--ignore-scripts',
    '--no-audit',
  ];
  try {
    await makeFolder(staging);
    await writeFile(path.join(staging, 'package.json'), JSON.stringify(project));
    await writeFile(path.join(staging, 'package-lock.json'), JSON.stringify(lock));
    await execFileAsync('npm', ['ci', '--silent', '--no-fund', ...flags], { cwd: staging });
    await rename(staging, folder);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    const what = Object.values(packages).map(nameOf).join(' and ');
    const message = `npm can't fetch ${what} for ${platform}; check the package registry`;
    throw new BuilderError('network', message, { cause: error });
  }
}
