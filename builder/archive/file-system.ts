import path from 'node:path';
import type { LayerEntry } from './layer.js';

/** The file system of an image, by absolute path. */
export type FileSystem = Map<string, LayerEntry>;

const WHITEOUT = '.wh.';
const OPAQUE = '.wh..wh..opq';

/** Merges layers, lowest first: entries replace those below, whiteouts remove them. */
export function mergeLayers(layers: readonly (readonly LayerEntry[])[]): FileSystem {
  const files: FileSystem = new Map();
  for (const entries of layers) {
    // Whiteouts first, wherever they are in the layer: they only apply to lower layers.
    for (const entry of entries) removeEntry(files, entry);
    for (const entry of entries) if (!isWhiteout(entry)) put(files, entry);
  }
  return files;
}

/** True for an entry that removes files of lower layers. */
export function isWhiteout({ path: name }: LayerEntry): boolean {
  return path.posix.basename(name).startsWith(WHITEOUT);
}

function removeEntry(files: FileSystem, { path: name, type }: LayerEntry): void {
  const [folder, base] = [path.posix.dirname(name), path.posix.basename(name)];
  if (base === OPAQUE) removeBelow(files, folder);
  else if (base.startsWith(WHITEOUT)) remove(files, path.posix.join(folder, base.slice(WHITEOUT.length)));
  else if (type !== 'directory' && files.get(name)?.type === 'directory') removeBelow(files, name);
}

function put(files: FileSystem, entry: LayerEntry): void {
  if (entry.type !== 'link') return void files.set(entry.path, entry);
  const target = files.get(path.posix.join('/', entry.target!));
  files.set(entry.path, target?.type === 'file' ? { ...target, path: entry.path } : entry);
}

function remove(files: FileSystem, name: string): void {
  files.delete(name);
  removeBelow(files, name);
}

function removeBelow(files: FileSystem, folder: string): void {
  const prefix = folder === '/' ? '/' : `${folder}/`;
  for (const name of files.keys()) if (name.startsWith(prefix)) files.delete(name);
}
