import { createPrivateKey, createPublicKey } from 'node:crypto';
import { openBundle, signStatement } from '../../../../builder/sign/bundle.js';
import { generateKeyPair } from '../../../../builder/sign/keys.js';
import { signatureDifferences, formatStatement, parseStatement } from '../../../../builder/sign/statement.js';

const pair = () => {
  const { privatePem, publicPem } = generateKeyPair(undefined);
  return { privateKey: createPrivateKey(privatePem), publicKey: createPublicKey(publicPem) };
};
const { privateKey, publicKey } = pair();
const HASHES = { image: 'a'.repeat(64), manifest: 'b'.repeat(64), sbom: 'c'.repeat(64) };
const ABOUT = { model: 'org/m', commit: 'c', task: 'fill-mask', platform: 'linux/amd64' };
const STATEMENT = formatStatement(HASHES, ABOUT);

interface Json {
  mediaType: string;
  verificationMaterial: { publicKey: { hint: string } };
  dsseEnvelope: { payloadType: string; payload: string; signatures: { sig: string }[] };
}

async function changed(change: (bundle: Json) => void): Promise<string> {
  const bundle = JSON.parse(await signStatement(STATEMENT, privateKey)) as Json;
  change(bundle);
  return JSON.stringify(bundle);
}

test('what was signed is read again by who has the public key', async () => {
  const text = await signStatement(STATEMENT, privateKey);
  expect(JSON.parse(text)).toMatchObject({
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    dsseEnvelope: { payloadType: 'application/vnd.in-toto+json', signatures: [expect.anything()] },
  });
  expect(text).not.toContain('PRIVATE');
  // cosign skips signatures that name a key.
  expect((JSON.parse(text) as Json).dsseEnvelope.signatures.map((each) => 'keyid' in each)).toEqual([false]);
  const opened = await openBundle(text, publicKey);
  expect(opened).toEqual({ statement: STATEMENT });
  expect(parseStatement(STATEMENT)).toEqual(HASHES);
});

test('by nobody else', async () => {
  const other = pair();
  const text = await signStatement(STATEMENT, other.privateKey);
  expect(await openBundle(text, publicKey)).toMatchObject({ problem: 'another key' });
  // It names the key that is asked for, and is signed with another one all the same.
  const own = JSON.parse(await signStatement(STATEMENT, privateKey)) as Json;
  const bundle = JSON.parse(text) as Json;
  bundle.verificationMaterial = own.verificationMaterial;
  expect(await openBundle(JSON.stringify(bundle), publicKey)).toMatchObject({ problem: 'altered' });
});

test.each<[string, (bundle: Json) => void, string]>([
  [
    'another statement',
    ({ dsseEnvelope }) => {
      const text = STATEMENT.replace('aaaa', 'dddd');
      dsseEnvelope.payload = Buffer.from(text).toString('base64');
    },
    'altered',
  ],
  ['another type', ({ dsseEnvelope }) => (dsseEnvelope.payloadType = 'text/plain'), 'no statement'],
  ['no signature', ({ dsseEnvelope }) => (dsseEnvelope.signatures[0]!.sig = ''), 'no bundle'],
  ['another signature', ({ dsseEnvelope }) => (dsseEnvelope.signatures[0]!.sig = 'aaaa'), 'altered'],
  ['nothing', (bundle) => Object.assign(bundle, { dsseEnvelope: undefined }), 'no bundle'],
])('a bundle that was changed to %s is not believed', async (_, change, problem) => {
  expect(await openBundle(await changed(change), publicKey)).toMatchObject({ problem });
});

test.each(['', '{}', '[]', 'null', '{"mediaType":"x"}', '{"base64Signature":"x","cert":"y"}'])(
  '%p is no bundle',
  async (text) => expect(await openBundle(text, publicKey)).toEqual({ problem: 'no bundle' }),
);

test('a signature of a file is none of an image', async () => {
  const text = JSON.stringify({
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { publicKey: { hint: 'x' } },
    messageSignature: { messageDigest: { algorithm: 'SHA2_256', digest: 'aaaa' }, signature: 'aaaa' },
  });
  expect(await openBundle(text, publicKey)).toEqual({ problem: 'no statement' });
});

describe('a statement', () => {
  test('of another kind names nothing', () => {
    expect(parseStatement(STATEMENT.replace('sealed:v1', 'sealed:v2'))).toBeUndefined();
    expect(parseStatement('{}')).toBeUndefined();
    expect(parseStatement('{')).toBeUndefined();
  });

  test('says what differs, and what it lacks', () => {
    expect(signatureDifferences(HASHES, HASHES)).toEqual([]);
    expect(signatureDifferences({ ...HASHES, sbom: 'd'.repeat(64) }, HASHES)).toEqual([
      expect.stringMatching(/^its bill of materials is sha256:ccc.*, and sha256:ddd.* was signed$/),
    ]);
    expect(signatureDifferences({}, HASHES)).toHaveLength(3);
  });

  test('that names a part twice has not named it', () => {
    const statement = JSON.parse(STATEMENT) as { subject: unknown[] };
    statement.subject.push(statement.subject[0]);
    expect(parseStatement(JSON.stringify(statement))).toEqual({
      manifest: HASHES.manifest,
      sbom: HASHES.sbom,
    });
  });
});
