/**
 * Latency of one connection on the 90 MB encoder, by text length, beside a bare loop of session runs on the same graph
 * in this process (no HTTP, no tokenizer): the ratio is what the server costs. `inline` is the server in one process
 * (INLINE=1): the most that an engine which takes connections itself could gain.
 */
import { join } from 'node:path';
import { benchModel, startServer, table } from './lib.mjs';

// Set before ONNX Runtime is loaded, as the server does.
process.env.ORT_DISABLE_TELEMETRY = '1';
const { default: ort } = await import('onnxruntime-node');

const ROUNDS = 5;
const REQUESTS = 40;
const dir = benchModel('bench_encoder.py');
const threads = Number(process.env.THREADS ?? 2);

const start = async (env) => {
  const server = await startServer({
    ...{ dir, task: 'feature-extraction' },
    env: { THREADS: String(threads), ...env },
  });
  await server.ready();
  return server;
};
const server = await start({});
const inline = await start({ INLINE: '1' });
const session = await ort.InferenceSession.create(join(dir, 'onnx/model.onnx'), {
  intraOpNumThreads: threads,
});

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function times(run) {
  const taken = [];
  for (let i = 0; i < REQUESTS; i++) {
    const started = performance.now();
    await run();
    taken.push(performance.now() - started);
  }
  return median(taken);
}

const overHttp =
  ({ url }, text) =>
  async () => {
    const response = await fetch(`${url}/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text }),
    });
    if (!response.ok) throw new Error(await response.text());
    await response.arrayBuffer();
  };

const bare = (tokens) => {
  const tensor = (value) => new ort.Tensor('int64', new BigInt64Array(tokens).fill(value), [1, tokens]);
  const feeds = { input_ids: tensor(1000n), attention_mask: tensor(1n), token_type_ids: tensor(0n) };
  return () => session.run(feeds);
};

const rows = [];
for (const words of [8, 126, 254]) {
  const [server_, inline_, raw] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    server_.push(await times(overHttp(server, 'the '.repeat(words).trim())));
    inline_.push(await times(overHttp(inline, 'the '.repeat(words).trim())));
    raw.push(await times(bare(words + 2)));
  }
  const ratio = Number((median(server_) / median(raw)).toFixed(2));
  rows.push({
    name: `${words + 2} tokens`,
    'server ms': median(server_).toFixed(1),
    'bare ms': median(raw).toFixed(1),
    ratio,
    'inline ms': median(inline_).toFixed(1),
    'inline / server': Number((median(inline_) / median(server_)).toFixed(2)),
  });
}
await Promise.all([server.stop(), inline.stop()]);
table(rows);
