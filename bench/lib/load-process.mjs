/**
 * The load generator, a process of its own: keep-alive connections that send one request after the other. Sends
 * `{ answers, failed, firstError, times, ... }` for each job; only answers inside the window count.
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

async function runJob({ url, requests, connections, warmSeconds, seconds, stream, offset = 0 }) {
  const clients = Array.from({ length: connections }, () => new Client(url, TIMEOUTS));
  const started = performance.now();
  const [from, to] = [started + warmSeconds * 1000, started + (warmSeconds + seconds) * 1000];
  const seen = { answers: 0, failed: 0, times: [], first: [], gaps: [], pieces: 0 };
  let next = offset;
  const one = stream ? streamed : whole;
  const workers = clients.map(async (client) => {
    while (performance.now() < to) await one(client, requests[next++ % requests.length], { from, to, seen });
  });
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

/** Each chunk of the body counts as one piece; gaps are between pieces of one answer. */
async function streamed(client, request, { from, to, seen }) {
  const sent = performance.now();
  try {
    const { statusCode, body } = await client.request(options(request));
    let last;
    for await (const _ of body) {
      const now = performance.now();
      if (now >= from && now < to) {
        seen.pieces++;
        (last === undefined ? seen.first : seen.gaps).push(now - (last ?? sent));
      }
      last = now;
    }
    const now = performance.now();
    if (statusCode !== 200) return failure(seen, `status ${statusCode}`, to);
    if (now < from || now >= to) return;
    seen.answers++;
    seen.times.push(now - sent);
  } catch (error) {
    failure(seen, error, to);
  }
}
