/**
 * Memory of a decoder's processes by the length of the prompt, and with eight streams at a time, on the Llama of 130 million
 * parameters: what is not a page of a file ("anonymous"), most at a time, with the time that each prompt took.
 *
 *   node bench/decoder-memory.mjs [--dtypes fp32,q8] [--lengths 100,422,1000,2000] [--context 2048]
 */
import { cpSync, existsSync, linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { benchModel, MB, startServer, table, tree } from './lib.mjs';
import { median, randomFrom } from './lib/numbers.mjs';
import { serverNode } from './lib/processes.mjs';
import { textOf } from './lib/texts.mjs';

const GRAPHS = { fp32: 'onnx/model.onnx', q8: 'onnx/model_quantized.onnx', q4: 'onnx/model_q4.onnx' };
const REPEATS = 3;
const STREAMS = 8;

const { values: options } = parseArgs({
  options: {
    dtypes: { type: 'string', default: 'fp32,q8' },
    lengths: { type: 'string', default: '100,422,1000,2000' },
    context: { type: 'string', default: '2048' },
  },
});
const lengths = options.lengths.split(',').map(Number);
const random = randomFrom(41);

/** The bench decoder, whose positions are computed, with another context. */
function modelOf(context) {
  const made = benchModel('bench_decoder.py');
  const dir = resolve(`.cache/bench/bench_decoder_${context}`);
  if (existsSync(dir)) return dir;
  mkdirSync(dir);
  for (const name of ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json'])
    cpSync(join(made, name), join(dir, name));
  const config = JSON.parse(readFileSync(join(made, 'config.json'), 'utf8'));
  writeFileSync(join(dir, 'config.json'), JSON.stringify({ ...config, max_position_embeddings: context }));
  mkdirSync(join(dir, 'onnx'));
  for (const graph of Object.values(GRAPHS)) linkSync(join(made, graph), join(dir, graph));
  return dir;
}

const fieldOf = (pid, name) =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) *
  1024;

/** Most anonymous memory of each process since the last reset, all together. */
const peakOf = (pid) =>
  tree(pid).reduce((sum, each) => sum + fieldOf(each, 'VmHWM') - fieldOf(each, 'RssFile'), 0);
const nowOf = (pid) => tree(pid).reduce((sum, each) => sum + fieldOf(each, 'RssAnon'), 0);
const reset = (pid) => tree(pid).forEach((each) => writeFileSync(`/proc/${each}/clear_refs`, '5'));

async function ask(url, text, tokens) {
  const body = JSON.stringify({ text, params: { max_new_tokens: tokens, return_full_text: false } });
  const headers = { 'content-type': 'application/json' };
  const started = performance.now();
  const answer = await fetch(`${url}/run`, { method: 'POST', headers, body });
  const said = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${said.slice(0, 200)}`);
  return {
    ms: performance.now() - started,
    tokensIn: Number(answer.headers.get('inference-tokens-in')),
    tokensOut: Number(answer.headers.get('inference-tokens-out')),
  };
}

/** A new text of about so many tokens; words are two to three. */
const promptOf = (tokens, perWord) => textOf(Math.floor((tokens - 1) / perWord) + 2, random);

async function measure(dir, dtype) {
  const model = { task: 'text-generation', engine: 'generation', dtype, graphs: { model: GRAPHS[dtype] } };
  const server = await startServer({ dir, node: serverNode(), ...model });
  try {
    await server.ready();
    const sample = await ask(server.url, textOf(202, random), 1);
    const perWord = sample.tokensIn / 200;
    const idle = nowOf(server.pid);
    const rows = [];
    const add = async (name, work) => {
      reset(server.pid);
      const figures = await work();
      const mb = (bytes) => Math.round(bytes / MB);
      rows.push({
        ...{ name: `${dtype} ${name}`, 'peak MB': mb(peakOf(server.pid)), 'after MB': mb(nowOf(server.pid)) },
        ...figures,
      });
    };
    rows.push({ name: `${dtype} idle`, 'after MB': Math.round(idle / MB) });
    for (const length of lengths) {
      await add(`prompt of ${length}`, async () => {
        const times = [];
        let tokensIn = 0;
        for (let i = 0; i < REPEATS; i++) {
          const told = await ask(server.url, promptOf(length, perWord), 1);
          times.push(told.ms);
          ({ tokensIn } = told);
        }
        return { tokens: tokensIn, ms: Math.round(median(times)) };
      });
    }
    await add(`${STREAMS} streams`, async () => {
      const started = performance.now();
      const all = await Promise.all(
        Array.from({ length: STREAMS }, () => ask(server.url, promptOf(100, perWord), 64)),
      );
      const tokens = all.reduce((sum, { tokensOut }) => sum + tokensOut, 0);
      return { tokens, 'tokens/s': Math.round((tokens * 1000) / (performance.now() - started)) };
    });
    return rows;
  } finally {
    await server.stop();
  }
}

const dir = modelOf(Number(options.context));
const rows = [];
for (const dtype of options.dtypes.split(',')) rows.push(...(await measure(dir, dtype)));
table(rows);
