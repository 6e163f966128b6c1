import { createPublicKey } from 'node:crypto';
import { chmod, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { type CommandDeps, reportOf } from '../deps.js';
import { BuilderError } from '../exit.js';
import { addOutputOptions, type OutputFlags } from '../options.js';
import { generateKeyPair, keyHint } from '../sign/keys.js';

const NOTES = `
Writes <name>.key, the private key for "builder snapshot --sign-key", and <name>.pub, the public key for "builder verify
--key". Both are PEM, ECDSA on P-256. cosign reads the public key as it is, and imports a private key without passphrase
with "cosign import-key-pair". SIGN_KEY_PASSPHRASE, or SIGN_KEY_PASSPHRASE_FILE, encrypts the private key.

Examples:
  builder keygen release
  builder keygen /media/stick/release --json`;

/** `builder keygen`: makes a key pair and prints the name of the public key's file. */
export function keygenCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('keygen')
    .description('Make a key pair for signing sealed images')
    .argument('<name>', 'name of the two files, without .key and .pub', keyName)
    .addHelpText('after', NOTES);
  addOutputOptions(command).action((name: string, flags: OutputFlags) => keygen(name, flags, deps));
}

async function keygen(name: string, flags: OutputFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const passphrase = deps.config.passphrase();
  const { privatePem, publicPem } = generateKeyPair(passphrase);
  const [privateKey, publicKey] = [`${name}.key`, `${name}.pub`];
  await writeNew(privateKey, privatePem, 0o600);
  try {
    await writeNew(publicKey, publicPem, 0o644);
  } catch (error) {
    await rm(privateKey);
    throw error;
  }
  const encrypted = passphrase !== undefined;
  if (!encrypted)
    report.note(
      `${privateKey} is not encrypted: whoever reads it can sign. SIGN_KEY_PASSPHRASE encrypts it.`,
    );
  const hint = keyHint(createPublicKey(publicPem));
  report.result(publicKey, { publicKey, privateKey, encrypted, keyId: hint });
}

/** Never overwrites a file: a private key would be lost. */
async function writeNew(file: string, text: string, mode: number): Promise<void> {
  try {
    const handle = await open(file, 'wx', mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // open() applies the umask; set the exact mode.
    await chmod(file, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new BuilderError('usage', `${file} is there; a key is never overwritten: give another name`);
    throw new BuilderError('failure', `${file} can't be written (${code})`, { cause: error });
  }
}

function keyName(text: string): string {
  const base = path.basename(text);
  if (base !== '' && base !== '.' && base !== '..' && !/\.(?:key|pub)$/.test(base))
    return path.normalize(text);
  throw new InvalidArgumentError('expected a name such as release, without .key and .pub');
}
