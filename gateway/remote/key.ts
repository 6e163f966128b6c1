import { readFile, stat } from 'node:fs/promises';
import { GatewayError } from '../errors.js';

/** Longer than any key; the setting may name any file. */
const MAX_LENGTH = 8192;

/** Visible ASCII: nothing else can stand in a header. */
const KEY = /^[\x21-\x7e]+$/;

/** @throws GatewayError that names the file, but nothing of its content */
export async function readKeyFile(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new GatewayError(`the key file ${file} can't be read (${error.code})`);
  });
  const key = text.trim();
  if (key.length <= MAX_LENGTH && KEY.test(key)) return key;
  throw new GatewayError(`the key file ${file} has to hold one key and nothing else`);
}

/**
 * A key that follows its file. While the file can't be read, the last key stays, and `log` is called once.
 * @returns reads it. @throws GatewayError if there never was one
 */
export function followedKey(file: string, log: (line: string) => void): () => Promise<string> {
  let known: { key: string; version: string } | undefined;
  let lastError: string | undefined;
  return async () => {
    try {
      const version = await versionOf(file);
      if (known?.version !== version) known = { key: await readKeyFile(file), version };
      lastError = undefined;
      return known.key;
    } catch (error) {
      if (!known) throw error;
      const { message } = error as Error;
      if (message !== lastError) log(`${message}; the key that was there stays`);
      lastError = message;
      return known.key;
    }
  };
}

/** Changes with the file. Followed links count: that is how clusters replace secrets. */
async function versionOf(file: string): Promise<string> {
  const { mtimeMs, ctimeMs, size, ino } = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw new GatewayError(`the key file ${file} can't be read (${error.code})`);
  });
  return [mtimeMs, ctimeMs, size, ino].join(' ');
}
