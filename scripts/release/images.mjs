/**
 * Runtime images of a release: built on the Docker Engine of this machine, saved as gzipped archives that `docker load` reads,
 * each with its bill of materials. The platform of this machine is required; arm64 is made where its base image is there or can be
 * made (scripts/arm64-engine.sh); its ffmpeg comes from a cross compiler.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createWriteStream, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { dockerodeDocker } from '../../dist/builder/docker/dockerode.js';
import { ensureRuntimeImage, planRuntimeImage } from '../../dist/builder/images/runtime-image.js';
import { basePartsOf } from '../../dist/builder/seal/base-image.js';
import { bundledPackages, shippedPackages } from '../../dist/builder/seal/packages.js';
import { sbomOf } from '../../dist/builder/seal/sbom.js';
import { mb } from './grown-sizes.mjs';

const PROFILES = ['text', 'vision', 'media'];
const AMD64_BASE = process.env.BASE_IMAGE || 'node:24-bookworm-slim';
const ARM64_BASE = process.env.ARM64_BASE_IMAGE || 'slipway-test/node-arm64:24';

/** Which images can be made here, and why the others can't. */
function platforms() {
  const script = (name) => spawnSync('bash', [`scripts/${name}`], { encoding: 'utf8' });
  const engine = script('docker-engine.sh');
  if (engine.status !== 0) return { made: [], left: [`no runtime images: ${lastLine(engine)}`] };
  const made = PROFILES.map((profile) => ({ profile, platform: 'linux/amd64', baseImage: AMD64_BASE }));
  const arm = script('arm64-engine.sh');
  if (arm.status !== 0) return { made, left: [`no images for arm64: ${lastLine(arm)}`] };
  const forArm = PROFILES.map((profile) => ({
    ...{ profile, platform: 'linux/arm64', baseImage: ARM64_BASE, hostBase: AMD64_BASE },
  }));
  return { made: [...made, ...forArm], left: [] };
}

const lastLine = ({ stdout, stderr }) =>
  (stderr.trim() || stdout.trim()).split('\n').at(-1) ?? 'nothing was said';

/**
 * Makes what can be made here.
 * @returns what each image takes, and lines about what was left out
 */
export async function releaseImages({ place, version, cache, say }) {
  const { made, left } = platforms();
  const docker = dockerodeDocker();
  const sizes = [];
  for (const choice of made) {
    const source = { packageRoot: process.cwd(), cache };
    const image = await planRuntimeImage(source, {
      ...{ namespace: 'slipway', device: 'cpu', version },
      ...choice,
    });
    say(`runtime image ${image.name} for ${image.platform}`);
    await ensureRuntimeImage(image, { docker, onLine: () => {} });
    const title = `slipway-runtime-${choice.profile}-${choice.platform.split('/')[1]}-${version}`;
    await save(image.name, join(place, `${title}.tar.gz`));
    writeFileSync(join(place, `${title}.cdx.json`), await bill(docker, image));
    const archive = statSync(join(place, `${title}.tar.gz`)).size;
    sizes.push({ ...choice, archive, aboveBase: await aboveBase(image.name, choice.baseImage) });
  }
  return { sizes, left };
}

/** The same image gives the same archive: gzip writes no time. */
async function save(name, file) {
  const saving = spawn('docker', ['save', name], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => saving.once('exit', resolve));
  await pipeline(saving.stdout, createGzip(), createWriteStream(file));
  if ((await ended) !== 0) throw new Error(`docker save ${name} failed`);
}

/** Bytes that an image adds to its base, not compressed. */
async function aboveBase(name, base) {
  const sizeOf = (reference) =>
    Number(execFileSync('docker', ['image', 'inspect', '--format', '{{.Size}}', reference]));
  return sizeOf(name) - sizeOf(base);
}

async function bill(docker, image) {
  const base = await basePartsOf(docker, await docker.inspectImage(image.name));
  const packages = [
    ...(await bundledPackages(process.cwd())),
    ...(await shippedPackages(image.entries)),
    ...base.packages,
  ];
  return sbomOf({ image: image.name, version: image.version, weights: [], ...base, packages });
}

const SIZES = 'docs/sizes.md';
const rowsOf = (sizes) =>
  sizes.map(({ profile, platform, aboveBase: above, archive }) => [
    profile,
    platform,
    mb(above),
    mb(archive),
  ]);

/** Writes docs/sizes.md again. */
export function writeSizes(sizes, left) {
  const cells = [
    ['profile', 'platform', 'above its base, MB', 'archive with the base, gzip, MB'],
    ...rowsOf(sizes),
  ];
  const [head, ...rows] = cells.map((row) => `| ${row.join(' | ')} |`);
  const text = [
    '# Sizes of runtime images',
    '',
    'What `make release-check SIZES=write` measured. It fails where an image is more than 5 % larger above its base than here, and so do the tests, for the images of their machine.',
    'A model image adds its model: `builder plan` tells how much that is. The archives hold the base of the machine that made them.',
    '',
    head,
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    ...left.map((line) => `Not made here: ${line}.`),
    '',
  ].join('\n');
  writeFileSync(SIZES, text);
  execFileSync('npx', ['prettier', '--write', '--log-level', 'warn', SIZES], { stdio: 'inherit' });
}
