import { BuilderError } from '../exit.js';

/** Platforms that images can be built for. */
export const PLATFORMS = ['linux/amd64', 'linux/arm64'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** Name of a platform's processor in Node and npm. */
export function nodeArch(platform: Platform): 'x64' | 'arm64' {
  return platform === 'linux/amd64' ? 'x64' : 'arm64';
}

/** The platform that this machine runs without emulation. */
export function hostPlatform(arch: string = process.arch): Platform {
  return arch === 'arm64' ? 'linux/arm64' : 'linux/amd64';
}

/** @throws BuilderError `usage` */
export function parsePlatform(name: string): Platform {
  const known = PLATFORMS.find((platform) => platform === name);
  if (known) return known;
  throw new BuilderError('usage', `platform "${name}" is unknown; one of: ${PLATFORMS.join(', ')}`);
}
