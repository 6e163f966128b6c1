import { randomBytes } from 'node:crypto';
import { readSecretFile } from '../../runtime/store/secret-file.js';
import { GatewayError } from '../errors.js';
import { isLoopback } from './guard.js';

/** A key that can be guessed would open everything. */
const SHORTEST = 16;

/**
 * The key that opens the console: of the file, or on a loopback address one for this run.
 * @param print told the key that was made
 * @throws GatewayError with a remedy
 */
export function openConsoleKey(
  host: string,
  file: string | undefined,
  print: (line: string) => void,
): string {
  if (file === undefined) return makeKey(host, print);
  const key = readSecretFile('--console-key-file', file, (message) => new GatewayError(message));
  if (key.length >= SHORTEST) return key;
  const found = `the key in ${file} has ${key.length} characters, and needs ${SHORTEST}`;
  throw new GatewayError(`--console-key-file: ${found}; "openssl rand -hex 32" makes one`);
}

function makeKey(host: string, print: (line: string) => void): string {
  if (!isLoopback(host))
    throw new GatewayError(
      `--console on ${host} can be reached from elsewhere: it needs a key; give --console-key-file`,
    );
  const key = `slc_${randomBytes(32).toString('base64url')}`;
  print(`no --console-key-file: the console of this run takes the key ${key}\n`);
  return key;
}
