/**
 * Answers that follow a format beside free ones, by turns, on a Llama of 217 million parameters with 151,936 tokens: node bench/formats.mjs
 * [--rounds 5] [--tokens 32] [--streams 1,4] [--dtype fp32]. Random weights choose tokens that no format allows, so that nearly every token
 * is chosen twice and the whole vocabulary is masked: the worst case.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { benchModel, MB, pssOf, startServer, table } from './lib.mjs';
import { median } from './lib/numbers.mjs';
import { prompts } from './lib/texts.mjs';

const { values: options } = parseArgs({
  options: {
    ...{ rounds: { type: 'string', default: '5' }, tokens: { type: 'string', default: '32' } },
    ...{ streams: { type: 'string', default: '1,4' }, dtype: { type: 'string', default: 'fp32' } },
  },
});
const tokens = Number(options.tokens);

const TEXT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const NUMBERS = { type: 'array', items: { type: 'number' }, minItems: 200 };
const KINDS = {
  // It may not end before the others.
  free: { min_new_tokens: tokens },
  'a text in JSON': { json_schema: TEXT },
  'numbers in JSON': { json_schema: NUMBERS },
  'words of a pattern': { regex: '([a-z]{1,12} ){300}' },
};
const SEARCHES = { greedy: {}, sampled: { do_sample: true, temperature: 0.8, top_p: 0.9, seed: 3 } };

/** The files and the model.json, as `builder fetch` writes them. */
function fetched() {
  const dir = resolve(benchModel('bench_vocabulary.py'));
  const to = resolve(`.cache/bench/formats-${options.dtype}`);
  const flags = ['--from', dir, '--to', to, '--cache', resolve('.cache/bench/own-graphs/cache')];
  const kind = ['--task', 'text-generation', '--weights', 'own', '--dtype', options.dtype];
  const command = ['dist/builder/main.js', 'fetch', 'bench/vocabulary', ...flags, ...kind];
  const folder = execFileSync(process.execPath, command, { encoding: 'utf8' }).trim().split('\n')[0];
  return {
    dir: dirname(dirname(dirname(folder))),
    spec: JSON.parse(readFileSync(`${folder}.json`, 'utf8')),
  };
}

const texts = prompts();
let used = 0;

/** No prompt comes twice, since its beginning would not be computed again. */
const nextText = () => `${(used += 1)} ${texts[used % texts.length]}`;

async function answer(url, params) {
  const body = JSON.stringify({ text: nextText(), params: { max_new_tokens: tokens, ...params } });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/run`, { method: 'POST', headers, body });
  if (response.status !== 200) throw new Error(await response.text());
  await response.arrayBuffer();
  return Number(response.headers.get('inference-tokens-out'));
}

/** Tokens a second of so many answers side by side. */
async function speed(url, streams, params) {
  const started = performance.now();
  const counts = await Promise.all(Array.from({ length: streams }, () => answer(url, params)));
  return (1000 * counts.reduce((a, b) => a + b, 0)) / (performance.now() - started);
}

const server = await startServer(fetched());
await server.ready();
await speed(server.url, 1, {});
const before = pssOf(server.pid);
for (const kind of Object.values(KINDS)) await speed(server.url, 1, kind);
console.log(
  `llguidance: ${((pssOf(server.pid) - before) / MB).toFixed(0)} MB more after the first answers with formats`,
);

const rows = [];
for (const streams of options.streams.split(',').map(Number))
  for (const [search, how] of Object.entries(SEARCHES)) {
    const found = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, []]));
    for (let round = 0; round < Number(options.rounds); round += 1) {
      const order = Object.entries(KINDS);
      for (const [kind, params] of round % 2 ? order.toReversed() : order)
        found[kind].push(await speed(server.url, streams, { ...how, ...params }));
    }
    for (const kind of Object.keys(KINDS)) {
      const ratio = median(found[kind].map((value, i) => value / found.free[i]));
      rows.push({
        ...{ streams, search, kind, 'tokens/s': median(found[kind]).toFixed(1), 'of free': ratio.toFixed(2) },
      });
    }
  }
await server.stop();
table(rows);
