import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RangeSource } from './types.js';

/** A part of a local file; fewer bytes than `length` where the file ends. */
export async function readPart(path: string, offset: number, length: number): Promise<Buffer> {
  const handle = await open(path);
  try {
    const bytes = Buffer.alloc(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } finally {
    await handle.close();
  }
}

/**
 * The files in one folder of a model that lies on this machine, under their paths in the repository.
 * @param root folder of the model
 * @param folder path in it; the root itself if empty
 */
export async function localFiles(root: string, folder = ''): Promise<RangeSource> {
  const names = await readdir(join(root, folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const paths = names.map((name) => (folder ? `${folder}/${name}` : name));
  const found = await Promise.all(paths.map(async (path) => ({ path, about: await stat(join(root, path)) })));
  return {
    files: found.filter(({ about }) => about.isFile()).map(({ path, about }) => ({ path, size: about.size })),
    read: (path, offset, length) => readPart(join(root, ...path.split('/')), offset, length),
  };
}
