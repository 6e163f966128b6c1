import { unwatchFile, watchFile } from 'node:fs';

const LOOK_EVERY_MS = 1000;

/**
 * Calls `reload` when a file has changed; an error of it is told, and nothing else happens.
 * @param after said behind the error: what stays in force
 * @returns what ends it
 */
export function followFile(
  file: string,
  reload: () => Promise<void>,
  { log, after }: { log: (line: string) => void; after: string },
): () => void {
  const changed = () => void reload().catch((error: Error) => log(`${error.message}; ${after}`));
  // Polling also sees files that are replaced, and mounted ones.
  watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, changed);
  return () => unwatchFile(file, changed);
}
