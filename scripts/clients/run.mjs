/**
 * Runs the published clients, as they are, against small models and a gateway before these, and writes docs/clients.md.
 * Usage: node scripts/clients/run.mjs [--check report.json]
 * With --check the page is compared instead, and the report has a row for each call: name, and what is wrong with it or null.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { unpackFixtures } from '../packing/unpack.mjs';
import { install, PLACE } from './install.mjs';
import { nameOf, page } from './page.mjs';
import { EVALUATED_REPOSITORY, gateway, MODELS, serve, ZOO } from './servers.mjs';

const run = promisify(execFile);
const PAGE = 'docs/clients.md';
const report = process.argv[2] === '--check' ? process.argv[3] : undefined;

const MEDIA = {
  picture: resolve('test/fixtures/zoo-own/zero-shot-image-classification/align/media/rgba.png'),
  sound: resolve(`${ZOO}/automatic-speech-recognition/whisper-en/media/stereo44k.wav`),
};

/** Lines of JSON that a program prints. */
async function resultsOf(program, args) {
  const { stdout } = await run(program, args, { cwd: PLACE, maxBuffer: 2 ** 26 });
  return stdout
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}

/** Calls of all clients. */
async function check(models, key) {
  const given = JSON.stringify({ models, key, ...MEDIA });
  const evaluated = { address: models['text-generation'], key, tokenizer: resolve(EVALUATED_REPOSITORY) };
  const evaluate = [join(PLACE, 'lm_eval/check.py'), JSON.stringify(evaluated)];
  return [
    ...(await resultsOf(join(PLACE, 'python/bin/python'), ['check.py', given])),
    ...(await resultsOf(join(PLACE, 'python-infinity/bin/python'), [
      join(PLACE, 'infinity/check.py'),
      given,
    ])),
    ...(await resultsOf(join(PLACE, 'python-lm-eval/bin/python'), evaluate)),
    ...(await resultsOf(process.execPath, ['check.mjs', given])),
  ];
}

/** The examples that need OpenAI's clients, as they are; those lie where no package does. */
async function examples(address) {
  const env = { ...process.env, KEY: 'any' };
  const copy = join(PLACE, 'openai-chat.mjs');
  copyFileSync('examples/openai-chat.mjs', copy);
  const python = [join(PLACE, 'python/bin/python'), [resolve('examples/openai_chat.py'), address]];
  const rows = Object.entries({
    'openai_chat.py': python,
    'openai-chat.mjs': [process.execPath, [copy, address]],
  });
  return Promise.all(
    rows.map(async ([name, [program, args]]) => {
      const printed = await run(program, args, { env }).then(
        ({ stdout }) => stdout,
        (error) => String(error),
      );
      const isWhole = /^answer: .*\nstreamed:.*\nshaped: (?:Oslo|Bergen)\n$/.test(printed);
      return { name: `examples/${name}`, problem: isWhole ? null : printed };
    }),
  );
}

/** A row for each call. */
const judged = (surface, row) => ({ name: `${surface}: ${nameOf(row)}`, problem: row.error });

unpackFixtures();
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
  const rows = Object.entries(columns).flatMap(([surface, own]) => own.map((row) => judged(surface, row)));
  rows.push(...(await examples(direct.chat)));
  const text = await format(page(columns), { ...(await resolveConfig(PAGE)), filepath: PAGE });
  if (report) {
    const isSame = readFileSync(PAGE, 'utf8') === text;
    rows.push({
      name: `${PAGE} is as it was found`,
      problem: isSame ? null : 'run "make clients" and commit it',
    });
    writeFileSync(report, JSON.stringify(rows));
  } else writeFileSync(PAGE, text);
  const wrong = rows.filter(({ problem }) => problem !== null);
  for (const { name, problem } of wrong) console.log(`${name}: ${problem}`);
  console.log(`${rows.length - wrong.length} passed, ${wrong.length} failed`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  for (const child of children) child.kill();
}
