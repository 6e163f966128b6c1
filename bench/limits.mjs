/**
 * Containers whose memory is limited to exactly what `builder plan` says, under the longest requests that the model takes,
 * alone and as many at a time as there is room for. Fails where a model process is killed, the longest request is not
 * answered, or a request is refused in another way than by what it lacks (413, 422, 503). Needs a Docker Engine.
 *
 *   node bench/limits.mjs [--only NAME,NAME] [--share 1] [--cpus 2]
 *
 * t5-small is made by a Python that has torch, transformers and optimum-onnx, and left out where BENCH_PYTHON names none.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { benchModel, MB, table } from './lib.mjs';
import { randomFrom } from './lib/numbers.mjs';
import { textOf } from './lib/texts.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    share: { type: 'string', default: '1' },
    cpus: { type: 'string', default: '2' },
  },
});
const random = randomFrom(5);
const docker = (...args) =>
  execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();

/** A new prompt of at most so many tokens: most words are two of the decoder's tokens or three. */
const prompt = (tokens, perWord = 2.45) => ({
  text: textOf(Math.floor(tokens / perWord), random),
  params: { max_new_tokens: 16 },
});

const text = (tokens) => ({ text: textOf(tokens, random) });

async function photo(width, height, turn) {
  const sharp = createRequire(resolve('package.json'))('sharp');
  const pixels = Buffer.alloc(width * height * 3);
  for (let i = 0; i < pixels.length; i++) pixels[i] = ((i % (3 * width)) / 24 + i / width / 48) & 255;
  const image = sharp(pixels, { raw: { width, height, channels: 3 } });
  const bytes = await (turn ? image.withMetadata({ orientation: 6 }) : image)
    .jpeg({ quality: 80 })
    .toBuffer();
  return { base64: bytes.toString('base64') };
}

const PHOTOS = { longest: () => photo(8160, 6120), usual: () => photo(4032, 3024, true), concurrency: 16 };

const MODELS = [
  {
    name: 'minilm',
    ...{ dir: () => benchModel('bench_encoder.py'), task: 'feature-extraction' },
    ...{ longest: () => text(512), usual: () => text(128), concurrency: 64 },
  },
  {
    name: 'bert-base',
    ...{ dir: () => benchModel('bench_classifier.py'), task: 'text-classification' },
    ...{ longest: () => text(512), usual: () => text(128), concurrency: 32 },
  },
  ...['fp32', 'q8', 'q4'].map((dtype) => ({
    name: `llama-${dtype}`,
    ...{ dir: () => benchModel('bench_decoder.py'), task: 'text-generation', dtype },
    ...{ longest: () => prompt(960), usual: () => prompt(240), concurrency: 16 },
  })),
  ...(process.env.BENCH_PYTHON === undefined
    ? []
    : [
        {
          name: 't5-small',
          ...{ dir: () => benchModel('bench_seq2seq.py', { python: process.env.BENCH_PYTHON }) },
          task: 'summarization',
          ...{ longest: () => prompt(512), usual: () => prompt(128), concurrency: 16 },
        },
      ]),
  {
    name: 'vit-tiny',
    ...{ dir: () => 'test/fixtures/zoo/image-classification/vit-tiny/repo', task: 'image-classification' },
    ...PHOTOS,
  },
  {
    name: 'vit-base',
    ...{ dir: () => benchModel('bench_vit.py'), task: 'image-classification' },
    ...PHOTOS,
  },
];

async function measure({ name, dir, task, dtype, longest, usual, concurrency }) {
  const out = mkdtempSync(join(tmpdir(), 'slipway-limits-'));
  const folder = resolve(dir());
  const flags = ['--from', folder, '--task', task, ...(dtype ? ['--dtype', dtype] : [])];
  const builder = (...args) =>
    execFileSync(process.execPath, ['dist/builder/main.js', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const plan = JSON.parse(builder('plan', `bench/${name}`, ...flags, '--cpus', options.cpus, '--json'));
  const image = builder('build', `bench/${name}`, ...flags, '--namespace', 'slipway-limits', '--out', out);
  const limit = Math.round(plan.devices.cpu.memory.limitBytes * Number(options.share));
  const id = docker(
    ...['run', '--detach', '--env', 'KEY=k', '--publish', '127.0.0.1::80', '--cpus', options.cpus],
    ...[`--memory=${limit}`, `--memory-swap=${limit}`, '--volume', `${folder}:/server/model:ro`, image],
  );
  try {
    const url = `http://${docker('port', id, '80/tcp').split('\n')[0]}`;
    await ready(id);
    const ask = async (body) => (await post(url, body)).status;
    const first = await post(url, await longest());
    const bodies = [];
    for (let i = 0; i < concurrency; i++) bodies.push(await (i % 4 === 0 ? longest() : usual()));
    const statuses = await Promise.all(bodies.map(ask));
    const last = await ask(bodies[1]);
    const { output } = await (await fetch(`${url}/status`)).json();
    const counted = [...new Set(statuses)].map(
      (status) => `${statuses.filter((each) => each === status).length} x ${status}`,
    );
    return {
      name,
      'limit MB': Math.round(limit / MB),
      'longest alone': first.status,
      'at a time': counted.join(', '),
      deaths: output.engine_restarts,
      ok:
        first.status === 200 &&
        last === 200 &&
        output.engine_restarts === 0 &&
        statuses.every((status) => [200, 503].includes(status)),
      ...(first.status === 200 ? {} : { said: first.said }),
    };
  } finally {
    docker('rm', '--force', '--volumes', id);
    docker('rmi', '--force', image);
    rmSync(out, { recursive: true, force: true });
  }
}

/** By its log: a request to a port that nobody listens behind yet would never be answered. */
async function ready(id) {
  for (let tries = 0; tries < 600; tries++) {
    const log = docker('logs', id);
    if (/"msg":"ready"/.test(log)) return;
    await new Promise((tick) => setTimeout(tick, 200));
  }
  throw new Error(`not ready: ${docker('logs', '--tail', '20', id)}`);
}

async function post(url, body) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/run`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, said: (await answer.text()).slice(0, 300) };
}

const wanted = options.only?.split(',');
const rows = [];
for (const model of MODELS.filter(({ name }) => !wanted || wanted.includes(name)))
  rows.push(await measure(model));
table(rows);
if (rows.some(({ ok }) => !ok)) process.exitCode = 1;
