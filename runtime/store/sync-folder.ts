import { open } from 'node:fs/promises';

/** After this the names in a folder outlive a power cut, and not only the files. @throws where a file system can't do it */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
