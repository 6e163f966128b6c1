import { realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

export interface RealFiles {
  /** The folder that holds all of them. */
  folder: string;
  /** Name in the model's folder -> path under `folder`. */
  names: ReadonlyMap<string, string>;
}

/**
 * Where files of a folder really lie, if some are links out of it, as in the cache of huggingface_hub: ONNX Runtime reads
 * only what lies in the folder that it is given, links followed. Undefined where all do, or one can't be found.
 */
export function realFiles(dir: string, files: readonly string[]): RealFiles | undefined {
  const found = files.map((file) => [file, realPath(join(dir, file))] as const);
  const base = realPath(dir);
  if (base === undefined || found.some(([, real]) => real === undefined)) return undefined;
  const reals = found.map(([file, real]) => [file, real!] as const);
  if (reals.every(([, real]) => real.startsWith(base + sep))) return undefined;
  const folder = commonFolder(reals.map(([, real]) => dirname(real)));
  return { folder, names: new Map(reals.map(([file, real]) => [file, relative(folder, real)])) };
}

/** Undefined for what is not there; opening it says so. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function commonFolder(folders: readonly string[]): string {
  let common = folders[0]!;
  while (!folders.every((folder) => `${folder}${sep}`.startsWith(common === sep ? sep : common + sep)))
    common = dirname(common);
  return common;
}
