import { createPrivateKey } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { signStatement } from '../../../../builder/sign/bundle.js';
import { generateKeyPair } from '../../../../builder/sign/keys.js';
import { formatStatement } from '../../../../builder/sign/statement.js';
import { engine, hash, problemsOf, SBOM, sealedImage, stepIn, verify } from './support.js';

const { privatePem, publicPem } = generateKeyPair(undefined);
const other = generateKeyPair(undefined);
const about = { model: 'org/m', commit: 'c', task: 'text-classification', platform: 'linux/amd64' };

type Image = Awaited<ReturnType<typeof sealedImage>>;

function bundleOf({ id, manifest }: Image, pem = privatePem): Promise<string> {
  const hashes = { image: id.slice('sha256:'.length), manifest: hash(manifest), sbom: hash(SBOM) };
  return signStatement(formatStatement(hashes, about), createPrivateKey(pem));
}

let folder: string;
let key: string;
const at = (name: string) => path.join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'slipway-signed-'));
  key = at('release.pub');
  await writeFile(key, publicPem);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function verifyWith(image: Image, bundle: string | undefined, ...flags: string[]) {
  const file = at('x.sigstore.json');
  if (bundle !== undefined) await writeFile(file, bundle);
  const given = bundle === undefined ? [] : ['--bundle', file];
  const docker = engine();
  const result = await verify(docker, image, '--key', key, ...given, ...flags);
  return { ...result, started: docker.started.length };
}

test('an image whose signature fits is proven, and run', async () => {
  const image = await sealedImage();
  const { code, proof, stderr, started } = await verifyWith(image, await bundleOf(image));
  expect(code).toBe(0);
  expect(stepIn(proof, 'signature')).toMatchObject({ passed: true, problems: [] });
  expect(stderr).not.toMatch(/who has sealed it/);
  expect(started).toBe(1);
});

describe('nothing of the image is run', () => {
  test('without a signature; the remedy is told', async () => {
    const { code, proof, started } = await verifyWith(await sealedImage(), undefined);
    expect({ code, started }).toEqual({ code: 1, started: 0 });
    expect(problemsOf(proof, 'signature')).toEqual([
      expect.stringMatching(/m\.tar\.sigstore\.json is not there: carry it along.*--bundle.*--sign-key/),
    ]);
  });

  test.each<[string, () => Promise<[Image, string]>, RegExp[]]>([
    [
      'that somebody else has signed',
      async () => [await sealedImage(), await bundleOf(await sealedImage(), other.privatePem)],
      [/another key .* than .*release.pub .*give the public key of who sealed it/],
    ],
    [
      'whose signature is that of another image',
      async () => [await sealedImage(), await bundleOf(await sealedImage({ labels: { more: 'x' } }))],
      [/^the image is sha256:.*was signed$/, /signature of another image/],
    ],
    [
      'that was sealed anew',
      async () => {
        const forged = await sealedImage({
          manifest: (text) => text.replace('"commit": "c"', '"commit": "d"'),
        });
        return [forged, await bundleOf(await sealedImage())];
      },
      [/^the image is/, /^its sealed manifest is/, /another image/],
    ],
    [
      'whose signature is none',
      async () => [await sealedImage(), '{"base64Signature":"x"}'],
      [/no bundle as Sigstore has it/],
    ],
    [
      'whose signature says something else',
      async () => [await sealedImage(), await signStatement('{"subject":[]}', createPrivateKey(privatePem))],
      [/signs no sealed image/],
    ],
  ])('of an image %s', async (_, make, problems) => {
    const [image, bundle] = await make();
    const { code, proof, started, stderr } = await verifyWith(image, bundle);
    expect({ code, started }).toEqual({ code: 1, started: 0 });
    expect(problemsOf(proof, 'signature')).toEqual(problems.map((problem) => expect.stringMatching(problem)));
    expect(stderr).toMatch(/is not proven: signature, network, golden$/m);
  });
});

test('a bundle without a key, and a key that is none: exit 2 before anything is read', async () => {
  const image = await sealedImage();
  expect(await verify(engine(), image, '--bundle', key)).toMatchObject({
    ...{ code: 2, stderr: expect.stringMatching(/--bundle needs --key/) },
  });
  expect(await verify(engine(), image, '--key', at('none.pub'))).toMatchObject({ code: 2 });
});
