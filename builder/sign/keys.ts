import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { BuilderError } from '../exit.js';

export interface KeyPair {
  /** PKCS#8 in PEM, encrypted if there is a passphrase. */
  privatePem: string;
  /** SubjectPublicKeyInfo in PEM. */
  publicPem: string;
}

/** A pair for ECDSA on P-256 with SHA-256, compatible with cosign. */
export function generateKeyPair(passphrase: string | undefined): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const secret = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase };
  return {
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem', ...secret }) as string,
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
  };
}

/** The key hint of bundles: Base64 of the hash of the key's DER form. */
export function keyHint(key: KeyObject): string {
  const own = key.type === 'private' ? createPublicKey(key) : key;
  const der = own.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('base64');
}

/**
 * Reads a private key in PEM.
 * @param passphrase called only for an encrypted key
 * @throws BuilderError `usage` with the reason, without the file's content
 */
export async function readPrivateKey(file: string, passphrase: () => string | undefined): Promise<KeyObject> {
  const pem = await readPem(file, '--sign-key');
  if (pem.includes('PUBLIC KEY'))
    throw wrong(`--sign-key ${file} is a public key`, 'give the private one, which ends in .key');
  if (/ENCRYPTED (?:SIGSTORE|COSIGN) PRIVATE KEY/.test(pem))
    throw wrong(
      `--sign-key ${file} is encrypted in cosign's own way, which only cosign reads`,
      'make a pair with "builder keygen", which "cosign import-key-pair" reads; or have cosign sign ' +
        'the statement.json that snapshot writes',
    );
  const secret = /ENCRYPTED/.test(pem) ? passphrase() : undefined;
  if (/ENCRYPTED/.test(pem) && secret === undefined)
    throw wrong(`--sign-key ${file} is encrypted`, 'set SIGN_KEY_PASSPHRASE or SIGN_KEY_PASSPHRASE_FILE');
  const key = parsed(() => createPrivateKey(secret === undefined ? pem : { key: pem, passphrase: secret }));
  if (key) return demandKind(key, `--sign-key ${file}`);
  const remedy = secret === undefined ? 'make a pair with "builder keygen"' : 'check SIGN_KEY_PASSPHRASE';
  throw wrong(`--sign-key ${file} is no private key in PEM, or its passphrase is another one`, remedy);
}

/** Reads a public key in PEM. @throws BuilderError `usage` */
export async function readPublicKey(file: string): Promise<KeyObject> {
  const pem = await readPem(file, '--key');
  if (pem.includes('PRIVATE KEY'))
    throw wrong(
      `--key ${file} is a private key, which belongs to who signs`,
      'give the one that ends in .pub',
    );
  const key = parsed(() => createPublicKey(pem));
  if (key) return demandKind(key, `--key ${file}`);
  throw wrong(`--key ${file} is no public key in PEM`, '"builder keygen" writes one that ends in .pub');
}

async function readPem(file: string, option: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw wrong(`${option} ${file} can't be read (${code})`, 'make a pair with "builder keygen"');
  }
}

function parsed(parse: () => KeyObject): KeyObject | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

function demandKind(key: KeyObject, what: string): KeyObject {
  if (key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key;
  throw wrong(
    `${what} is no key for ECDSA on P-256`,
    '"builder keygen" and "cosign generate-key-pair" make such',
  );
}

function wrong(what: string, remedy: string): BuilderError {
  return new BuilderError('usage', `${what}; ${remedy}`);
}
