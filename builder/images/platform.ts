import { BuilderError } from '../exit.js';

/** Platforms that images can be built for. */
export const PLATFORMS = ['linux/amd64', 'linux/arm64'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** The word that Node and npm use for a platform's processor. */
export function nodeArch(platform: Platform): 'x64' | 'arm64' {
  return platform === 'linux/amd64' ? 'x64' : 'arm64';
}

/** The platform on which containers of this machine run without emulation. */
export function hostPlatform(arch: string = process.arch): Platform {
  return arch === 'arm64' ? 'linux/arm64' : 'linux/amd64';
}

/** @throws BuilderError `usage` */
export function parsePlatform(name: string): Platform {
  const known = PLATFORMS.find((platform) => platform === name);
  if (known) return known;
  throw new BuilderError('usage', `platform "${name}" is unknown; one of: ${PLATFORMS.join(', ')}`);
}
