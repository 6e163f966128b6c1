/**
 * Sizes and build times of images, with a real Docker Engine: compressed layers of the runtime images above their base
 * (limits: text 30 MiB, vision 40 MiB, media 75 MiB), layers of a model image without weights (64 KiB), and how long a build of a
 * model takes whose runtime image and weights are there (5 s).
 */
import { execFileSync, spawn } from 'node:child_process';
import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGzip } from 'node:zlib';

import { table } from './lib.mjs';

const BASE = process.env.BASE_IMAGE ?? 'node:24-bookworm-slim';
const ZOO = 'test/fixtures/zoo';
const MODELS = [
  {
    profile: 'text',
    id: 'bench/distilbert',
    from: `${ZOO}/text-classification/distilbert/repo`,
    limitMiB: 30,
  },
  { profile: 'vision', id: 'bench/vit', from: `${ZOO}/image-classification/vit-tiny/repo`, limitMiB: 40 },
  // Its ffmpeg is made from Debian's source: minutes, the first time.
  {
    profile: 'media',
    id: 'bench/moonshine',
    from: `${ZOO}/automatic-speech-recognition/moonshine-tiny/repo`,
    limitMiB: 75,
  },
];
const MIB = 2 ** 20;

function build({ id, from }, ...flags) {
  const args = [
    'dist/builder/main.js',
    'build',
    id,
    '--from',
    from,
    '--namespace',
    'bench',
    '--base-image',
    BASE,
  ];
  const out = mkdtempSync(join(tmpdir(), 'slipway-out-'));
  const started = performance.now();
  const result = JSON.parse(
    execFileSync(process.execPath, [...args, '--json', '--quiet', '--out', out, ...flags]),
  );
  rmSync(out, { recursive: true });
  return { ...result, seconds: (performance.now() - started) / 1000 };
}

/** Digest (diff id) of each layer of an image to its compressed size. */
async function layers(image) {
  const dir = mkdtempSync(join(tmpdir(), 'slipway-save-'));
  const save = spawn('docker', ['save', image], { stdio: ['ignore', 'pipe', 'inherit'] });
  const tar = spawn('tar', ['-x', '-C', dir], { stdio: [save.stdout, 'inherit', 'inherit'] });
  await new Promise((done) => tar.once('exit', done));
  const [{ Config, Layers }] = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'));
  const { rootfs } = JSON.parse(readFileSync(join(dir, Config), 'utf8'));
  const sizes = new Map();
  for (const [i, layer] of Layers.entries()) sizes.set(rootfs.diff_ids[i], await gzipped(join(dir, layer)));
  rmSync(dir, { recursive: true });
  return sizes;
}

async function gzipped(file) {
  let bytes = 0;
  for await (const chunk of createReadStream(file).pipe(createGzip())) bytes += chunk.length;
  return bytes;
}

function above(layersOfImage, layersOfBase) {
  return [...layersOfImage].filter(([id]) => !layersOfBase.has(id)).reduce((sum, [, size]) => sum + size, 0);
}

const base = await layers(BASE);
const rows = [];
for (const model of MODELS) {
  const first = build(model);
  // Another name, so that it is a build and not a find.
  const again = build({ ...model, id: `${model.id}-${Date.now()}` }, '--bake');
  const runtime = await layers(first.runtime);
  const runtimeMiB = above(runtime, base) / MIB;
  const modelKiB = above(await layers(first.image), runtime) / 1024;
  rows.push({
    name: model.profile,
    'runtime above base MiB': runtimeMiB.toFixed(1),
    'limit MiB': model.limitMiB,
    'model layers KiB': modelKiB.toFixed(1),
    'limit KiB': 64,
    'build of a cached model s': again.seconds.toFixed(1),
    'limit s': 5,
    ok: runtimeMiB <= model.limitMiB && modelKiB <= 64 && again.seconds <= 5,
  });
  const made = [...first.references, ...again.references, first.runtime];
  execFileSync('docker', ['rmi', '-f', ...made], { stdio: 'ignore' });
}
table(rows);
if (rows.some((row) => !row.ok)) process.exitCode = 1;
