/**
 * Runs the published clients, as they are, against small models, and writes docs/clients.md.
 * Usage: node scripts/clients/run.mjs
 * Installs the clients below .cache/clients: pinned by requirements.txt and package.json here, apart from our own packages.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { unpackFixtures } from '../packing/unpack.mjs';
import { setTimeout as sleep } from 'node:timers/promises';

const run = promisify(execFile);
unpackFixtures();
const OWN = import.meta.dirname;
const PLACE = resolve('.cache/clients');
const ZOO = 'test/fixtures/zoo';
const MEDIA = {
  picture: resolve('test/fixtures/zoo-own/zero-shot-image-classification/align/media/rgba.png'),
  sound: resolve(`${ZOO}/automatic-speech-recognition/whisper-en/media/stereo44k.wav`),
};

/** Task -> repository. */
const MODELS = {
  chat: 'chat/llama-chat',
  'text-generation': 'text-generation/llama',
  summarization: 'summarization/t5-summary',
  translation: 'translation/marian',
  'fill-mask': 'fill-mask/bert',
  'text-classification': 'text-classification/distilbert',
  'token-classification': 'token-classification/bert-ner',
  'feature-extraction': 'feature-extraction/bert-mean',
  'sentence-similarity': 'sentence-similarity/sbert-mean',
  'zero-shot-classification': 'zero-shot-classification/distilbert-mnli',
  'question-answering': 'question-answering/bert-qa',
  'image-classification': 'image-classification/vit-tiny',
  'image-segmentation': 'image-segmentation/segformer-tiny',
  'image-to-text': 'image-to-text/blip-tiny',
  'object-detection': 'object-detection/detr-tiny',
  'visual-question-answering': 'visual-question-answering/vilt-tiny',
  'document-question-answering': 'document-question-answering/donut-tiny',
  'zero-shot-image-classification': 'zero-shot-image-classification/clip-tiny',
  'text-to-image': 'text-to-image/sd-ddim',
  'audio-classification': 'audio-classification/w2v2-keywords',
  'automatic-speech-recognition': 'automatic-speech-recognition/whisper-en',
  'text-to-speech': 'text-to-speech/vits-mms',
};

async function install() {
  mkdirSync(PLACE, { recursive: true });
  for (const file of ['package.json', 'requirements.txt', 'check.py', 'check.mjs'])
    cpSync(join(OWN, file), join(PLACE, file));
  const python = join(PLACE, 'python/bin/python');
  if (!existsSync(python)) await run('python3', ['-m', 'venv', join(PLACE, 'python')]);
  await run(python, ['-m', 'pip', 'install', '-q', '-r', join(PLACE, 'requirements.txt')]);
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: PLACE });
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

async function serve(task, folder) {
  const port = await freePort();
  const args = ['dist/builder/main.js', 'serve', `zoo/${task}`, '--from', `${ZOO}/${folder}/repo`];
  const child = spawn(process.execPath, [...args, '--task', task, '--port', String(port), '--quiet'], {
    stdio: 'ignore',
  });
  const address = `http://127.0.0.1:${port}`;
  for (let i = 0; i < 240; i++) {
    if (child.exitCode !== null) throw new Error(`the server of ${folder} ended with ${child.exitCode}`);
    const answer = await fetch(`${address}/health`).catch(() => undefined);
    if (answer?.ok) return { task, address, child };
    await sleep(500);
  }
  throw new Error(`${folder} is not ready after two minutes`);
}

/** Lines of JSON that a program prints. */
async function resultsOf(program, args) {
  const { stdout } = await run(program, args, { cwd: PLACE, maxBuffer: 2 ** 26 });
  return stdout
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}

/** A gateway before these servers: where each model is there, and a key. */
async function gateway(servers) {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-clients-'));
  const models = servers.map(({ task, address }) => ({
    ...{ id: `zoo/${task}`, task, addresses: [address] },
  }));
  const files = { catalog: join(folder, 'models.json'), keys: join(folder, 'keys.json') };
  writeFileSync(files.catalog, JSON.stringify({ models }));
  const program = 'dist/gateway/main.js';
  const key = await run(process.execPath, [program, 'keys', 'create', '--keys', files.keys]);
  const given = ['--upstream', 'static', '--catalog', files.catalog, '--keys', files.keys, '--port', '0'];
  const stdio = ['ignore', 'pipe', 'ignore'];
  const child = spawn(process.execPath, [program, 'serve', ...given], { stdio });
  const [address] = await once(child.stdout.setEncoding('utf8'), 'data');
  const at = (task) => `${address.trim()}/zoo/${task}`;
  const addresses = Object.fromEntries(servers.map(({ task }) => [task, at(task)]));
  return { child, addresses, key: key.stdout.trim(), close: () => rmSync(folder, { recursive: true }) };
}

/** Calls of all clients. */
async function check(models, key) {
  const given = JSON.stringify({ models, key, ...MEDIA });
  return [
    ...(await resultsOf(join(PLACE, 'python/bin/python'), ['check.py', given])),
    ...(await resultsOf(process.execPath, ['check.mjs', given])),
  ];
}

const cell = (error) => (error === null ? 'works' : `fails: ${error.replaceAll('|', '/')}`);

/** @param columns by surface, the same calls in the same order */
function page(columns) {
  const surfaces = Object.keys(columns);
  const [first] = Object.values(columns);
  const clients = [...new Set(first.map(({ client }) => client))];
  const head = `| call | ${surfaces.join(' | ')} |\n| --- |${' --- |'.repeat(surfaces.length)}`;
  const sections = clients.map((client) => {
    const lines = first.flatMap((row, i) => {
      if (row.client !== client) return [];
      return `| ${[row.call, ...surfaces.map((name) => cell(columns[name][i].error))].join(' | ')} |`;
    });
    return `## ${client}\n\n${head}\n${lines.join('\n')}\n`;
  });
  return `# Clients\n\nThe published clients as they are (versions: \`scripts/clients/\`), each call against a model of its task: at a container's
address, and at the model's address below a gateway. Made by \`make clients\`, which needs PyPI and npm.\n\n${sections.join('\n')}`;
}

await install();
const children = [];
try {
  const servers = [];
  for (const [task, folder] of Object.entries(MODELS)) {
    servers.push(await serve(task, folder));
    children.push(servers.at(-1).child);
  }
  const hosted = await gateway(servers);
  children.push(hosted.child);
  const direct = Object.fromEntries(servers.map(({ task, address }) => [task, address]));
  const columns = {
    container: await check(direct, 'any'),
    gateway: await check(hosted.addresses, hosted.key),
  };
  hosted.close();
  writeFileSync('docs/clients.md', page(columns));
  await run('npx', ['prettier', '--write', 'docs/clients.md']);
  const rows = Object.entries(columns).flatMap(([surface, own]) => own.map((row) => ({ surface, ...row })));
  const failed = rows.filter(({ error }) => error !== null);
  for (const { surface, client, call, error } of failed)
    console.log(`${surface}: ${client}: ${call}: ${error}`);
  console.log(`${rows.length - failed.length} passed, ${failed.length} failed`);
} finally {
  for (const child of children) child.kill();
}
