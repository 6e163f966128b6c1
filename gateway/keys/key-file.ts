import { existsSync } from 'node:fs';
import { type FileHandle, readFile, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { acquireLock, type Lock } from '../../runtime/store/lock.js';
import { replaceFile } from '../../runtime/store/replace-file.js';
import { GatewayError, describeInvalidFile } from '../errors.js';

const key = z.strictObject({
  /** By which operators name it; no secret. */
  id: z.string(),
  name: z.string(),
  /** Hex SHA-256 of the key. It is random and long: a slow hash would add nothing. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  created: z.string(),
});

const document = z.strictObject({ version: z.literal(1), keys: z.array(key) });

export type StoredKey = z.output<typeof key>;

/** @throws GatewayError that names the file; none is an empty list */
export async function readKeys(file: string): Promise<StoredKey[]> {
  if (!existsSync(file)) return [];
  try {
    return document.parse(JSON.parse(await readFile(file, 'utf8'))).keys;
  } catch (error) {
    throw new GatewayError(`the keys in ${file} can't be used: ${describeInvalidFile(error)}`);
  }
}

/**
 * Replaces the keys by what `change` makes of them. Changes of several processes at the same time happen one after the
 * other; a link to the file stays one. A new file may be read by its owner only, an old one keeps its owner and mode.
 * @throws GatewayError when the file can't be read or written, and what `change` throws; the file stays as it was then
 */
export async function changeKeys(
  file: string,
  change: (keys: readonly StoredKey[]) => readonly StoredKey[],
): Promise<void> {
  const target = await realpath(file).catch(() => missingTarget(file));
  const lock = await lockOf(target).catch((error: NodeJS.ErrnoException) => {
    throw unwritten(file, error);
  });
  try {
    const keys = change(await readKeys(target));
    await replaceFile(target, `${JSON.stringify({ version: 1, keys }, null, 1)}\n`, {
      mode: 0o600,
      sync: true,
      prepare: (handle) => keepOwner(handle, target),
    }).catch((error: NodeJS.ErrnoException) => {
      throw unwritten(file, error);
    });
  } finally {
    await lock.release();
  }
}

const PATIENCE_MS = 2000;

/** Others hold it for milliseconds; one that was stopped meanwhile is waited for, and that is told. */
async function lockOf(file: string): Promise<Lock> {
  const tell = () => process.stderr.write(`gateway: waits for another process that changes ${file}\n`);
  const timer = setTimeout(tell, PATIENCE_MS);
  try {
    return await acquireLock(`${file}.lock`);
  } finally {
    clearTimeout(timer);
  }
}

/** Where a file would be made that is not there yet: behind a link that leads nowhere, or at its own path. */
async function missingTarget(file: string): Promise<string> {
  const to = await readlink(file).catch(() => undefined);
  return to === undefined ? file : path.resolve(path.dirname(file), to);
}

function unwritten(file: string, { code, message }: NodeJS.ErrnoException): GatewayError {
  return new GatewayError(
    `${file} stays as it was: it can't be written (${code ?? message}); give another --keys`,
  );
}

/** A gateway may run as somebody else than who manages its keys, and has to read them still. */
async function keepOwner(handle: FileHandle, file: string): Promise<void> {
  const before = await stat(file).catch(() => undefined);
  if (!before) return;
  const { uid, gid } = await handle.stat();
  if (uid !== before.uid || gid !== before.gid) await handle.chown(before.uid, before.gid);
  await handle.chmod(before.mode & 0o777);
}
