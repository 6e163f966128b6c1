import { open } from 'node:fs/promises';

/** Makes renames and new names in a folder durable. @throws on file systems that can't sync folders */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
