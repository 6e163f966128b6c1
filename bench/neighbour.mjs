/**
 * Short work of one caller, and of a few, beside the build of another checkout, on a machine with nothing else to do and
 * with a neighbour who keeps one core busy: node bench/neighbour.mjs --against FOLDER [--rounds N] [--only encoder,q8,fp32]
 */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { benchModel, startServer, table } from './lib.mjs';
import { median, round } from './lib/numbers.mjs';

const { values: options } = parseArgs({
  options: {
    ...{ against: { type: 'string' }, only: { type: 'string', default: 'encoder,q8,fp32' } },
    rounds: { type: 'string', default: '6' },
  },
});
if (!options.against) throw new Error('usage: node bench/neighbour.mjs --against FOLDER');
const IMAGES = ['dist/image/main.mjs', resolve(options.against, 'dist/image/main.mjs')];
const TEXT = 'the cat sat on the mat and';
const generation = (dtype, file) => ({
  model: {
    ...{ dir: () => benchModel('bench_decoder.py'), task: 'text-generation', engine: 'generation', dtype },
    graphs: { model: `onnx/${file}.onnx` },
  },
  body: { text: TEXT, params: { max_new_tokens: 24, do_sample: false } },
  calls: 2,
  callers: [1, 4],
});
const KINDS = {
  encoder: {
    model: { dir: () => benchModel('bench_encoder.py'), task: 'feature-extraction' },
    body: { text: TEXT },
    calls: 30,
    callers: [1],
  },
  q8: generation('q8', 'model_quantized'),
  fp32: generation('fp32', 'model'),
};

async function ask({ url }, body) {
  const response = await fetch(`${url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  await response.arrayBuffer();
}

/** Milliseconds of calls to each server, block by block in turn. */
async function timesOf(servers, { body, calls }, callers) {
  const times = servers.map(() => []);
  for (let i = 0; i < Number(options.rounds); i++) {
    const order = i % 2 === 0 ? [0, 1] : [1, 0];
    for (const k of order) {
      const caller = async () => {
        for (let call = 0; call < calls; call++) {
          const started = performance.now();
          await ask(servers[k], body);
          times[k].push(performance.now() - started);
        }
      };
      await Promise.all(Array.from({ length: callers }, caller));
    }
  }
  return times.map(median);
}

const rows = [];
for (const name of options.only.split(',')) {
  const { model, ...work } = KINDS[name];
  const started = IMAGES.map((image) => startServer({ ...model, dir: model.dir(), image }));
  const servers = await Promise.all(started);
  for (const server of servers) await server.ready();
  // Until the sessions that follow are there.
  for (let i = 0; i < 10; i++) for (const server of servers) await ask(server, work.body);
  await new Promise((later) => setTimeout(later, 4000));
  for (const callers of work.callers) {
    for (const busy of [false, true]) {
      const neighbour = busy && spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
      const [ours, against] = await timesOf(servers, work, callers);
      if (neighbour) neighbour.kill('SIGKILL');
      rows.push({
        name: `${name}, ${callers} callers${busy ? ', neighbour' : ''}`,
        ...{ 'ours ms': round(ours), 'against ms': round(against), ratio: round(ours / against, 2) },
      });
    }
  }
  for (const server of servers) await server.stop();
}
table(rows);
