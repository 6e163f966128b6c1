/**
 * The load generator, a process of its own: keep-alive connections that send one request after the other. Sends
 * `{ answers, failed, times, ... }` for each job; only answers inside the window count.
 */
import { performance } from 'node:perf_hooks';
import { Client } from 'undici';

process.on('message', async (job) => {
  try {
    process.send(await runJob(job));
  } catch (error) {
    process.send({ error: String(error?.stack ?? error) });
  }
});

/** `tokens` (of an answer) makes it a job of streams; `newcomer` adds a connection whose first pieces count apart. */
async function runJob({ url, requests, connections, warmSeconds, seconds, ...job }) {
  const clients = Array.from({ length: connections }, () => new Client(url, TIMEOUTS));
  const started = performance.now();
  const [from, to] = [started + warmSeconds * 1000, started + (warmSeconds + seconds) * 1000];
  const seen = { answers: 0, failed: 0, times: [], first: [], gaps: [], newcomer: [], streams: [] };
  const one = job.tokens ? streamed : whole;
  let count = 0;
  const next = () => requests[count++ % requests.length];
  const window = { from, to, seen, tokens: job.tokens };
  const workers = clients.map(async (client) => {
    while (performance.now() < to) await one(client, next(), window);
  });
  if (job.newcomer) {
    clients.push(new Client(url, TIMEOUTS));
    workers.push(newcomer(clients.at(-1), { next, ...window }));
  }
  await onWindow(from, to);
  // What is under way at the end does not count; a long generation need not be waited for.
  await Promise.all(clients.map((client) => client.destroy()));
  await Promise.allSettled(workers);
  return seen;
}

const TIMEOUTS = { headersTimeout: 600_000, bodyTimeout: 600_000 };

/** Tells the parent when the window opens and closes, so that it reads CPU times then. */
async function onWindow(from, to) {
  await until(from);
  process.send({ window: 'open' });
  await until(to);
  process.send({ window: 'closed' });
}

const until = (moment) => new Promise((tick) => setTimeout(tick, Math.max(0, moment - performance.now())));

const options = ({ path, body }) => ({
  ...{ path, body, method: 'POST', headers: { 'content-type': 'application/json' } },
});

function failure(seen, error, to) {
  // The end of a window destroys what is under way.
  if (performance.now() >= to || error?.code === 'UND_ERR_DESTROYED') return;
  seen.failed++;
  seen.firstError ??= String(error);
}

async function whole(client, request, { from, to, seen }) {
  const sent = performance.now();
  try {
    const { statusCode, body } = await client.request(options(request));
    const text = await body.text();
    const now = performance.now();
    if (statusCode !== 200) return failure(seen, `${statusCode} ${text.slice(0, 200)}`, to);
    if (now < from || now >= to) return;
    seen.answers++;
    seen.times.push(now - sent);
  } catch (error) {
    failure(seen, error, to);
  }
}

/**
 * Each chunk of the body is one piece. Several tokens may share a piece (half a letter waits for the other half), so an
 * answer's pieces are worth its tokens together (`share` each); gaps are between pieces.
 */
async function streamed(client, request, { from, to, seen, tokens, newcomer }) {
  const sent = performance.now();
  const inside = (moment) => moment >= from && moment < to;
  const arrived = [];
  let complete = false;
  try {
    const { statusCode, body } = await client.request(options(request));
    for await (const _ of body) arrived.push(performance.now());
    if (statusCode !== 200) return failure(seen, `status ${statusCode}`, to);
    complete = true;
  } catch (error) {
    failure(seen, error, to);
  }
  if (arrived.length > 0 && inside(arrived[0]))
    (newcomer ? seen.newcomer : seen.first).push(arrived[0] - sent);
  if (newcomer) return;
  const share = complete ? tokens / arrived.length : undefined;
  seen.streams.push({ pieces: arrived.filter(inside).length, share });
  for (let i = 1; i < arrived.length; i++)
    if (inside(arrived[i])) seen.gaps.push(arrived[i] - arrived[i - 1]);
  const now = performance.now();
  if (!complete || !inside(now)) return;
  seen.answers++;
  seen.times.push(now - sent);
}

/** One who comes while the others' streams run, and comes again a little after each answer. */
async function newcomer(client, { next, to, ...window }) {
  while (performance.now() < to) {
    await streamed(client, next(), { ...window, to, newcomer: true });
    await new Promise((tick) => setTimeout(tick, 100));
  }
}
