/**
 * Sessions without a server, in a process of its own: node raw-encoder.mjs FOLDER GRAPH THREADS. Each job is
 * { texts, seconds, budget } (batches of at most `budget` padded tokens, sorted by length, tokenised before the clock
 * starts) or { texts, seconds, lone: true } (one text at a time, tokenised inside the clock).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { percentile, sorted } from '../lib/numbers.mjs';

process.env.ORT_DISABLE_TELEMETRY = '1';
const { default: ort } = await import('onnxruntime-node');

const [, , dir, file, threads] = process.argv;
const json = (name) => JSON.parse(readFileSync(join(dir, name), 'utf8'));
const tokenizer = new Tokenizer(json('tokenizer.json'), json('tokenizer_config.json'));
const session = await ort.InferenceSession.create(file, {
  ...{ intraOpNumThreads: Number(threads), interOpNumThreads: 1, executionMode: 'sequential' },
});

const idsOf = (text) => tokenizer.encode(text).ids;

/** Rows of one batch, padded to the longest. */
function feedsOf(rows) {
  const width = Math.max(...rows.map((row) => row.length));
  const filled = (value) => {
    const data = new BigInt64Array(rows.length * width);
    for (const [i, row] of rows.entries())
      for (const [j, id] of row.entries()) data[i * width + j] = value(id);
    return new ort.Tensor('int64', data, [rows.length, width]);
  };
  const all = {
    input_ids: filled((id) => BigInt(id)),
    attention_mask: filled(() => 1n),
    token_type_ids: filled(() => 0n),
  };
  return Object.fromEntries(session.inputNames.map((name) => [name, all[name]]));
}

/** Sorted by length. */
function batchesOf(rows, budget) {
  const batches = [];
  for (const row of rows.toSorted((a, b) => a.length - b.length)) {
    const last = batches.at(-1);
    if (last && (last.length + 1) * row.length <= budget) last.push(row);
    else batches.push([row]);
  }
  return batches;
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;

/**
 * The place of the i-th run in a sorted list, so that every stretch of runs holds short and long ones as the whole does:
 * a second is not enough to visit all of them.
 */
const visited = (i, count) => Math.floor((((i + 0.5) * GOLDEN) % 1) * count);

async function throughput({ texts, seconds, budget }) {
  const batches = batchesOf(texts.map(idsOf), budget).map((rows) => ({
    items: rows.length,
    feeds: feedsOf(rows),
  }));
  await session.run(batches[0].feeds);
  const started = performance.now();
  const cpu = process.cpuUsage();
  let items = 0;
  for (let i = 0; performance.now() - started < seconds * 1000; i++) {
    const { feeds, items: count } = batches[visited(i, batches.length)];
    await session.run(feeds);
    items += count;
  }
  const { user, system } = process.cpuUsage(cpu);
  return { items, rate: (items * 1000) / (performance.now() - started), cpuSeconds: (user + system) / 1e6 };
}

async function lone({ texts, seconds }) {
  await session.run(feedsOf([idsOf(texts[0])]));
  const times = [];
  const started = performance.now();
  const cpu = process.cpuUsage();
  for (let i = 0; performance.now() - started < seconds * 1000; i++) {
    const before = performance.now();
    await session.run(feedsOf([idsOf(texts[i % texts.length])]));
    times.push(performance.now() - before);
  }
  const { user, system } = process.cpuUsage(cpu);
  const order = sorted(times);
  return {
    rate: (times.length * 1000) / (performance.now() - started),
    cpuMs: (user + system) / 1000 / times.length,
    ...Object.fromEntries([50, 95, 99].map((p) => [`p${p}`, percentile(order, p / 100)])),
  };
}

process.on('message', async (job) => process.send(await (job.lone ? lone(job) : throughput(job))));
