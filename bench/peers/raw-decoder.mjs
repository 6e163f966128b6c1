/**
 * A decoder session without a server, in a process of its own: node raw-decoder.mjs GRAPH THREADS. Each job
 * { rows, newTokens, seconds, heads, width } runs rows of equal length as one batch, greedily, each step's cache handed
 * back as it came.
 */
import { percentile, sorted } from '../lib/numbers.mjs';

process.env.ORT_DISABLE_TELEMETRY = '1';
const { default: ort } = await import('onnxruntime-node');

const [, , file, threads] = process.argv;
const session = await ort.InferenceSession.create(file, { intraOpNumThreads: Number(threads) });

const int64 = (values, dims) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims);

function feedsOf(rows, past, cache) {
  const [batch, length] = [rows.length, rows[0].length];
  const positions = Array.from({ length }, (_, i) => past + i);
  const all = {
    input_ids: int64(rows.flat(), [batch, length]),
    attention_mask: int64(new Array(batch * (past + length)).fill(1), [batch, past + length]),
    position_ids: int64(
      rows.flatMap(() => positions),
      [batch, length],
    ),
    ...cache,
  };
  return Object.fromEntries(session.inputNames.map((name) => [name, all[name]]));
}

function emptyCache(batch, heads, width) {
  const names = session.inputNames.filter((name) => name.startsWith('past_key_values'));
  const tensor = () => new ort.Tensor('float32', new Float32Array(0), [batch, heads, 0, width]);
  return Object.fromEntries(names.map((name) => [name, tensor()]));
}

function likeliest({ data, dims: [batch, length, vocabulary] }) {
  return Array.from({ length: batch }, (_, row) => {
    const from = (row * length + length - 1) * vocabulary;
    let best = from;
    for (let i = from; i < from + vocabulary; i++) if (data[i] > data[best]) best = i;
    return [best - from];
  });
}

/** Times of all tokens of one batch, in milliseconds since its start. */
async function generate({ rows, newTokens, heads, width }) {
  let cache = emptyCache(rows.length, heads, width);
  const started = performance.now();
  const times = [];
  for (let past = 0; times.length < newTokens;) {
    const outputs = await session.run(feedsOf(rows, past, cache));
    past += rows[0].length;
    rows = likeliest(outputs.logits);
    const present = (name) => outputs[name.replace('past_key_values', 'present')];
    cache = Object.fromEntries(Object.keys(cache).map((name) => [name, present(name)]));
    times.push(performance.now() - started);
  }
  return times;
}

async function measure(job) {
  await generate({ ...job, newTokens: 2 });
  const [first, gaps] = [[], []];
  const started = performance.now();
  const cpu = process.cpuUsage();
  let tokens = 0;
  do {
    const times = await generate(job);
    tokens += times.length * job.rows.length;
    first.push(times[0]);
    for (let i = 1; i < times.length; i++) gaps.push(times[i] - times[i - 1]);
  } while (performance.now() - started < job.seconds * 1000);
  const { user, system } = process.cpuUsage(cpu);
  return {
    tokens: (tokens * 1000) / (performance.now() - started),
    cpuMsPerToken: (user + system) / 1000 / tokens,
    firstp50: percentile(sorted(first), 0.5),
    gapp50: percentile(sorted(gaps), 0.5),
    gapp95: percentile(sorted(gaps), 0.95),
  };
}

process.on('message', async (job) => process.send(await measure(job)));
