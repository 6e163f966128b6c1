/**
 * Steps a second of images that are made, beside runs of the network alone: node bench/diffusion.mjs [--rounds N] [--seconds N].
 * Steps are timed by their events, so that reading the prompt and decoding the image don't count. Needs BENCH_PYTHON for its
 * model, once.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { benchModel } from './lib.mjs';
import { cpuOfMachine, cpuOfTree } from './lib/cpu.mjs';
import { rawSessions, slipway } from './lib/encoders.mjs';
import { readOptions } from './lib/options.mjs';
import { firstAnswer } from './lib/processes.mjs';
import { report, rowsOf } from './lib/rounds.mjs';

const GRAPHS = {
  ...{ text_encoder: 'text_encoder/model.onnx', unet: 'unet/model.onnx' },
  ...{ vae_decoder: 'vae_decoder/model.onnx' },
};
const CHANNELS = 4;
const TOKENS = 77;

const options = readOptions({ cells: ['guided@1'], rounds: 3, seconds: 20 });
const dir = benchModel('bench_diffusion.py', { python: process.env.BENCH_PYTHON });
const config = JSON.parse(readFileSync(join(dir, 'unet/config.json'), 'utf8'));
const job = {
  sample: [CHANNELS, config.sample_size, config.sample_size],
  context: [TOKENS, config.cross_attention_dim],
};

const request = (steps) => ({
  path: '/run',
  body: JSON.stringify({
    ...{ text: 'a lighthouse', stream: true },
    params: { seed: 1, num_inference_steps: steps },
  }),
});

/** Steps a second between the first event and the last step of one image. */
async function imageRate({ url, pid }, steps) {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
  const { path, body } = request(steps);
  const response = await fetch(url + path, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  let [seen, text, begun, ended] = [0, '', undefined, undefined];
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    if (ended) continue;
    text += piece;
    const count = text.split('event: progress').length - 1;
    if (count > 0) begun ??= clocks(pid);
    seen = count;
    if (seen === steps + 1) ended = clocks(pid);
  }
  const seconds = (ended.at - begun.at) / 1000;
  const others = ended.machine - begun.machine - (ended.server - begun.server);
  return {
    rate: steps / seconds,
    cpuMs: ((ended.server - begun.server) * 1000) / steps,
    othersCores: others / seconds,
  };
}

const clocks = (pid) => ({ at: performance.now(), server: cpuOfTree(pid), machine: cpuOfMachine() });

const server = slipway(dir, 'text-to-image', { engine: 'diffusion', profile: 'vision', graphs: GRAPHS });
const raw = rawSessions(dir, {
  ...{ processes: 1, threads: availableParallelism(), peer: 'bench/peers/raw-unet.mjs' },
  ...{ jobs: () => [job], file: 'unet/model.onnx' },
});
const [running, bare] = [await server.start(), raw.start()];
const measured = [];
try {
  await firstAnswer(running, request(1));
  const trial = await raw.measure(bare, { kind: 'guided' }, 2);
  const steps = Math.min(1000, Math.max(5, Math.round(trial.rate * options.seconds)));
  for (let round = 0; round < options.rounds; round++) {
    const both = [
      async () => ({ contestant: 'slipway', ...(await imageRate(running, steps)) }),
      async () => ({
        contestant: raw.name,
        ...(await raw.measure(bare, { kind: 'guided' }, options.seconds)),
      }),
    ];
    for (const measure of round % 2 === 0 ? both : both.toReversed())
      measured.push({ cell: 'guided', round, ...(await measure()) });
  }
} finally {
  await running.stop();
  bare.stop();
}
const columns = [
  ['steps/s', 'rate', 2],
  ['CPU ms', 'cpuMs', 1],
  ['others', 'othersCores', 2],
];
report('diffusion', {
  options,
  measured,
  tables: { 'Steps (medians over rounds)': rowsOf(measured, { columns }) },
});
