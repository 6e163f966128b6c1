import { unwatchFile, watchFile } from 'node:fs';

const POLL_EVERY_MS = 1000;

/**
 * Calls `reload` when the file changes. Errors of `reload` are logged and otherwise ignored.
 * @param after appended to the logged error; says what remains in force
 * @returns a function that stops watching
 */
export function followFile(
  file: string,
  reload: () => Promise<void>,
  { log, after }: { log: (line: string) => void; after: string },
): () => void {
  const onChange = () => void reload().catch((error: Error) => log(`${error.message}; ${after}`));
  // Polling also notices replaced files and changes on mounted volumes.
  watchFile(file, { interval: POLL_EVERY_MS, persistent: false }, onChange);
  return () => unwatchFile(file, onChange);
}
