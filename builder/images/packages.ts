import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Profile } from '../../runtime/core/spec.js';
import { BuilderError } from '../exit.js';
import { nodeArch, type Platform } from './platform.js';

const execFileAsync = promisify(execFile);

/** An npm package of a runtime image and which of its files the server needs. */
export interface PackagePart {
  name: string;
  /** The package that requires it, when that may have a copy of its own. */
  of?: string;
  /** File paths or folder prefixes (ending with a slash) inside the package. */
  keep: readonly string[];
}

/** What lies in /server/node_modules beside the bundle: the packages with native code and what they load. */
export function packageParts(profile: Profile, platform: Platform): PackagePart[] {
  const arch = nodeArch(platform);
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

function nativeSharp(arch: string): string[] {
  return [`@img/sharp-linux-${arch}`, `@img/sharp-libvips-linux-${arch}`];
}

/** The folder of an installed package, or undefined. Looks where Node would look from `root`. */
export function installedFolder(root: string, name: string): string | undefined {
  const places = createRequire(path.join(root, 'package.json')).resolve.paths(name) ?? [];
  return places
    .map((place) => path.join(place, name))
    .find((folder) => existsSync(path.join(folder, 'package.json')));
}

export interface PackageSource {
  /** Folder of this program's package.json. */
  packageRoot: string;
  /** Folder that keeps packages for other platforms than the host's. */
  cache: string;
}

/**
 * Finds the folders of the parts; packages for another platform than the host's are fetched from npm once.
 * @throws BuilderError `failure` when a package is missing here, `network` when npm can't fetch one
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
  if (!name.startsWith('@img/sharp-')) {
    throw new BuilderError(
      'failure',
      `the package ${name} is not installed; run "npm ci --ignore-scripts" first`,
    );
  }
  const sharp = installedFolder(source.packageRoot, 'sharp');
  const manifest = JSON.parse(await readFile(path.join(sharp!, 'package.json'), 'utf8')) as {
    version: string;
  };
  const folder = path.join(
    source.cache,
    'natives',
    `sharp-${manifest.version}-${platform.replace('/', '-')}`,
  );
  if (!existsSync(folder)) await install(folder, manifest.version, platform);
  return path.join(folder, 'node_modules', name);
}

/** sharp names its native packages as optional dependencies, of which npm takes those of the platform. */
async function install(folder: string, version: string, platform: Platform): Promise<void> {
  const staging = `${folder}.${process.pid}`;
  await mkdir(staging, { recursive: true });
  await writeFile(
    path.join(staging, 'package.json'),
    JSON.stringify({ private: true, dependencies: { sharp: version } }),
  );
  const flags = [
    '--os=linux',
    `--cpu=${nodeArch(platform)}`,
    '--libc=glibc',
    '--ignore-scripts',
    '--no-audit',
  ];
  try {
    await execFileAsync('npm', ['install', '--silent', '--no-fund', ...flags], { cwd: staging });
    await rename(staging, folder);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    const message = `npm can't fetch sharp ${version} for ${platform}; check the package registry`;
    throw new BuilderError('network', message, { cause: error });
  }
}
