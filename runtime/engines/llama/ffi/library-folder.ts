import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { RunError } from '../../../core/errors.js';

/** Packages with the library, those with more devices first. */
const BUILDS = ['-cuda', '-vulkan', ''];

/**
 * Folder of the library on this machine.
 * @throws RunError `not_ready` where no package for it is installed
 */
export function libraryFolder(): string {
  const platform = `${process.platform}-${process.arch}`;
  const { resolve } = createRequire(import.meta.url);
  for (const build of BUILDS) {
    const name = `@node-llama-cpp/${platform}${build}`;
    try {
      // Its package.json is not among its exports.
      return join(dirname(dirname(resolve(name))), 'bins', `${platform}${build}`);
    } catch {
      // Not installed.
    }
  }
  throw new RunError(
    'not_ready',
    `there is no llama.cpp for ${platform} here: it comes with the images of profile llama, and with the optional ` +
      'dependencies of this program ("npm ci --include=optional") on Linux with x64 or arm64',
  );
}

/** True where a library for GPUs lies beside that for processors. */
export function hasGpuLibrary(): boolean {
  try {
    const folder = libraryFolder();
    return ['cuda', 'vulkan'].some((name) => existsSync(join(folder, `libggml-${name}.so`)));
  } catch {
    // There is no llama.cpp here at all.
    return false;
  }
}
