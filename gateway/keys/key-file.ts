import { existsSync } from 'node:fs';
import { type FileHandle, readFile, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { acquireLock, type Lock } from '../../runtime/store/lock.js';
import { replaceFile } from '../../runtime/store/replace-file.js';
import { GatewayError, describeInvalidFile } from '../errors.js';
import { ownLimits } from '../limits/own-limits.js';

const key = z.strictObject({
  /** Public id, which operators use to name the key. */
  id: z.string(),
  name: z.string(),
  /** Hex SHA-256 of the key. Keys are long and random, so a slow hash would add nothing. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  created: z.string(),
  /** Of this key alone; absent for one that has the limits of all. */
  limits: ownLimits.optional(),
});

const document = z.strictObject({ version: z.literal(1), keys: z.array(key) });

export type StoredKey = z.output<typeof key>;

/** A missing file is an empty list. @throws GatewayError that names the file */
export async function readKeys(file: string): Promise<StoredKey[]> {
  if (!existsSync(file)) return [];
  try {
    return document.parse(JSON.parse(await readFile(file, 'utf8'))).keys;
  } catch (error) {
    throw new GatewayError(`the keys in ${file} can't be used: ${describeInvalidFile(error)}`);
  }
}

/**
 * Replaces the keys atomically by the result of `change`, under a lock against other processes. Symbolic links stay. A
 * new file is readable by its owner only; an existing one keeps owner and mode.
 * @throws GatewayError when the file can't be read or written, or whatever `change` throws; the file is then unchanged
 */
export async function changeKeys(
  file: string,
  change: (keys: readonly StoredKey[]) => readonly StoredKey[],
): Promise<void> {
  const target = await realpath(file).catch(() => missingTarget(file));
  const lock = await acquireFileLock(target).catch((error: NodeJS.ErrnoException) => {
    throw writeError(file, error);
  });
  try {
    const keys = change(await readKeys(target));
    await replaceFile(target, `${JSON.stringify({ version: 1, keys }, null, 1)}\n`, {
      mode: 0o600,
      sync: true,
      prepare: (handle) => keepOwner(handle, target),
    }).catch((error: NodeJS.ErrnoException) => {
      throw writeError(file, error);
    });
  } finally {
    await lock.release();
  }
}

const NOTICE_AFTER_MS = 2000;

/** The lock is normally held for milliseconds. A longer wait is reported on stderr. */
async function acquireFileLock(file: string): Promise<Lock> {
  const notify = () => process.stderr.write(`gateway: waits for another process that changes ${file}\n`);
  const timer = setTimeout(notify, NOTICE_AFTER_MS);
  try {
    return await acquireLock(`${file}.lock`);
  } finally {
    clearTimeout(timer);
  }
}

/** Where to create a missing file: at the target of a dangling link, or at its own path. */
async function missingTarget(file: string): Promise<string> {
  const linkTarget = await readlink(file).catch(() => undefined);
  return linkTarget === undefined ? file : path.resolve(path.dirname(file), linkTarget);
}

function writeError(file: string, { code, message }: NodeJS.ErrnoException): GatewayError {
  return new GatewayError(
    `${file} stays as it was: it can't be written (${code ?? message}); give another --keys`,
  );
}

/** Keeps the file readable for a gateway that runs as another user than the one who manages the keys. */
async function keepOwner(handle: FileHandle, file: string): Promise<void> {
  const before = await stat(file).catch(() => undefined);
  if (!before) return;
  const { uid, gid } = await handle.stat();
  if (uid !== before.uid || gid !== before.gid) await handle.chown(before.uid, before.gid);
  await handle.chmod(before.mode & 0o777);
}
