import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../../../builder/cli.js';
import { readBuilderConfig } from '../../../../builder/config.js';
import { generateKeyPair, keyHint, readPrivateKey, readPublicKey } from '../../../../builder/sign/keys.js';
import { fakeDocker } from '../../../fakes/docker.js';
import { sink } from '../support.js';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'slipway-keys-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));
const at = (name: string) => path.join(folder, name);

async function builder(args: string[], env: NodeJS.ProcessEnv = {}) {
  const [out, err] = [sink(), sink()];
  const docker = fakeDocker();
  const streams = { stdout: out.stream, stderr: err.stream };
  const code = await runCli(args, {
    config: readBuilderConfig(env),
    docker,
    packageRoot: '.',
    version: '1',
    ...streams,
  });
  return { code, stdout: out.text(), stderr: err.text() };
}

describe('builder keygen', () => {
  test('writes a pair: the private key for its owner only, the public one for all', async () => {
    const before = process.umask(0o077);
    try {
      const { code, stdout, stderr } = await builder(['keygen', at('release')]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${at('release.pub')}\n` });
      expect(stderr).toMatch(/release.key is not encrypted/);
    } finally {
      process.umask(before);
    }
    expect((await stat(at('release.key'))).mode & 0o777).toBe(0o600);
    expect((await stat(at('release.pub'))).mode & 0o777).toBe(0o644);
    const key = await readPrivateKey(at('release.key'), () => undefined);
    expect(keyHint(key)).toBe(keyHint(await readPublicKey(at('release.pub'))));
  });

  test('a key is never overwritten, and half a pair is never left', async () => {
    await builder(['keygen', at('release')]);
    const before = await readFile(at('release.key'), 'utf8');
    const again = await builder(['keygen', at('release')]);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringMatching(/never overwritten/) });
    expect(await readFile(at('release.key'), 'utf8')).toBe(before);
    await writeFile(at('half.pub'), 'mine');
    expect(await builder(['keygen', at('half')])).toMatchObject({ code: 2 });
    await expect(stat(at('half.key'))).rejects.toThrow(/ENOENT/);
    expect(await readFile(at('half.pub'), 'utf8')).toBe('mine');
  });

  test('a passphrase encrypts it, and is not told', async () => {
    const env = { SIGN_KEY_PASSPHRASE: 'open sesame 7Qz' };
    const { code, stdout, stderr } = await builder(['keygen', at('release'), '--json'], env);
    expect({ code, told: JSON.parse(stdout) as unknown }).toMatchObject({
      code: 0,
      told: { encrypted: true },
    });
    expect(`${stdout}${stderr}`).not.toMatch(/sesame|PRIVATE/);
    expect(await readFile(at('release.key'), 'utf8')).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----/);
    await readPrivateKey(at('release.key'), () => 'open sesame 7Qz');
    await expect(readPrivateKey(at('release.key'), () => undefined)).rejects.toThrow(
      /set SIGN_KEY_PASSPHRASE/,
    );
    await expect(readPrivateKey(at('release.key'), () => 'wrong')).rejects.toThrow(
      /check SIGN_KEY_PASSPHRASE/,
    );
  });

  test.each(['', 'a/..', 'release.key', 'x/release.pub'])('%p is no name for it: exit 2', async (name) => {
    expect((await builder(['keygen', name])).code).toBe(2);
  });

  test('a folder that is not there: exit 1 and a sentence', async () => {
    const { code, stderr } = await builder(['keygen', at('nowhere/release')]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/can't be written \(ENOENT\)/),
    });
  });
});

describe('a file that is not the key that is wanted', () => {
  const { privatePem, publicPem } = generateKeyPair(undefined);
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = (key: typeof rsa.privateKey) => key.export({ type: 'pkcs8', format: 'pem' }) as string;

  test.each([
    ['a public one', publicPem, /is a public key; give the private one/],
    ['one of cosign’s', '-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nx', /cosign's own way.*keygen/],
    ['another kind', pem(rsa.privateKey), /no key for ECDSA on P-256/],
    ['no key', 'secret-7Qz', /no private key in PEM/],
  ])('%s, to sign', async (_, text, message) => {
    await writeFile(at('x'), text);
    const error = await readPrivateKey(at('x'), () => undefined).catch((e: Error) => e);
    expect(error).toMatchObject({
      name: 'BuilderError',
      exit: 'usage',
      message: expect.stringMatching(message),
    });
    expect((error as Error).message).not.toContain('7Qz');
  });

  test.each([
    ['a private one', privatePem, /is a private key, which belongs to who signs/],
    ['another kind', rsa.publicKey.export({ type: 'spki', format: 'pem' }) as string, /no key for ECDSA/],
    ['no key', 'x', /no public key in PEM/],
  ])('%s, to verify', async (_, text, message) => {
    await writeFile(at('x'), text);
    await expect(readPublicKey(at('x'))).rejects.toThrow(message);
  });

  test('no file', async () => {
    await expect(readPublicKey(at('none.pub'))).rejects.toThrow(/can't be read \(ENOENT\)/);
    await writeFile(at('closed'), privatePem);
    await chmod(at('closed'), 0);
    if (process.getuid?.() !== 0)
      await expect(readPrivateKey(at('closed'), () => undefined)).rejects.toThrow(/EACCES/);
  });
});
