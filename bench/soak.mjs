/**
 * A long mixture of ordinary, impatient and hostile requests against real servers: node bench/soak.mjs [--requests N]
 * [--clients N] [--only TASK,TASK] [--aborts SHARE] [--gateway]. With --aborts, such a share of the callers leaves at a
 * random moment; with --gateway, every other call goes through one, OpenAI's interface included. Prints memory of each server's processes as it goes. Ends with 1 when memory grew by
 * more than 5 % after the first 2,000 requests, a process of a server died, an answer had an unexpected status or did
 * not come, a server still holds something for somebody at the end, or the same request got another answer at the end than
 * at the start.
 */
import { parseArgs } from 'node:util';
import { resolve } from 'node:path';
import { Agent, request } from 'undici';
import { benchModel, MB, rssOf, startServer, table, tree } from './lib.mjs';
import { startGateway } from './lib/gateway-process.mjs';
import { randomFrom, round } from './lib/numbers.mjs';
import { eachKind, nextRequest } from './lib/soak-requests.mjs';

const { values } = parseArgs({
  options: {
    ...{ requests: { type: 'string', default: '20000' }, clients: { type: 'string', default: '12' } },
    ...{ only: { type: 'string' }, aborts: { type: 'string' }, gateway: { type: 'boolean' } },
  },
});
const TOTAL = Number(values.requests);
const LIMIT = 1.05;
/** Requests after which memory may grow no more. */
const SETTLED = Math.min(2000, TOTAL / 4);
/** Memory is compared at rest, after garbage was collected: what a million letters leave behind is no leak. */
const PRELOAD = { NODE_OPTIONS: `--require ${resolve('bench/lib/gc-on-signal.cjs')}` };
const PAUSE_MS = 3000;
const TIME_LIMIT_MS = 60 * 60_000;
/** Every text here is short or is refused: whoever waits longer waits for somebody else's. */
const ANSWER_LIMIT_MS = 60_000;
const MAX_FAULTS = 50;

const zoo = (path) => resolve('test/fixtures/zoo', path, 'repo');
const seq2seq = {
  engine: 'generation',
  graphs: {
    encoder_model: 'onnx/encoder_model.onnx',
    decoder_model_merged: 'onnx/decoder_model_merged.onnx',
  },
};
const MODELS = [
  { task: 'feature-extraction', dir: zoo('feature-extraction/bert-mean') },
  { task: 'text-classification', dir: zoo('text-classification/distilbert') },
  { task: 'text-generation', dir: zoo('text-generation/llama'), engine: 'generation' },
  { task: 'zero-shot-classification', dir: zoo('zero-shot-classification/distilbert-mnli') },
  { task: 'summarization', dir: zoo('summarization/t5-summary'), ...seq2seq },
  { name: 'bench encoder', task: 'feature-extraction', dir: benchModel('bench_encoder.py') },
];

const agent = new Agent({ connections: 64, headersTimeout: 300_000, bodyTimeout: 300_000 });
const only = values.only?.split(',');

/** Longest time after which somebody leaves: about as long as most answers take. */
const LEAVE_MS = 150;

/** Where a call goes: to the model's own server, or to the gateway before it. */
function placeOf({ url, name, task, gateway }, body, random) {
  if (!gateway || random() < 0.5) return { address: `${url}/run`, headers: {}, body };
  const model = { address: `${gateway.url}/models/v2/${idOf(name)}`, headers: gateway.headers, body };
  const wanted = OPENAI[task]?.(body, idOf(name));
  if (!wanted || random() < 0.7) return model;
  return { ...model, address: `${gateway.url}/models/v2/openai/v1/${wanted.path}`, body: wanted.body };
}

const idOf = (name) => `soak/${name.replace(/\W/g, '-')}`;

/** The same request in OpenAI's words, where it is an ordinary one. */
const OPENAI = {
  'text-generation': (body, model) => inOpenAi(body, model, 'completions', 'prompt'),
  'feature-extraction': (body, model) => inOpenAi(body, model, 'embeddings', 'input'),
};

function inOpenAi(body, model, path, field) {
  if (body.length > 5000) return undefined;
  try {
    const { text, params, stream } = JSON.parse(body);
    if (typeof text !== 'string' || text.trim() === '' || params?.no_such_thing) return undefined;
    const generation = path === 'completions' ? { max_tokens: params?.max_new_tokens ?? 8, stream } : {};
    return { path, body: JSON.stringify({ model, [field]: text, ...generation }) };
  } catch {
    return undefined;
  }
}

async function send(server, { body: given, cancelAfterMs }, random = () => 0) {
  const { address, headers: own, body } = placeOf(server, given, random);
  const signal = AbortSignal.timeout(Math.ceil(cancelAfterMs ?? ANSWER_LIMIT_MS));
  const headers = { 'content-type': 'application/json', ...own };
  try {
    const options = { method: 'POST', body, headers, signal, dispatcher: agent };
    const { statusCode, body: answer } = await request(address, options);
    return { status: statusCode, text: await answer.text() };
  } catch (error) {
    if (signal.aborted && cancelAfterMs !== undefined) return { cancelled: true };
    return { status: signal.aborted ? 'no answer in time' : (error.code ?? String(error)), text: '' };
  }
}

const PROBE = {
  body: JSON.stringify({ text: 'A quiet river runs through the valley.' }),
};
const LABELLED = {
  body: JSON.stringify({
    text: 'The train leaves from platform seven.',
    candidate_labels: ['travel', 'cooking'],
  }),
};
const probe = async (server) =>
  (await send(server, server.task === 'zero-shot-classification' ? LABELLED : PROBE)).text;

async function start(model) {
  const running = await startServer({ ...model, env: PRELOAD });
  await running.ready();
  const server = { ...running, task: model.task, name: model.name ?? model.task };
  server.answer = await probe(server);
  const random = randomFrom(5);
  server.first = Array.from({ length: 3 }, () => eachKind(server.task, random)).flat();
  server.processes = tree(server.pid).join();
  return server;
}

/** The first of each kind stay: what memory the largest ones take belongs to the beginning. */
const mayLeave = (wanted, random) =>
  random() < Number(values.aborts ?? 0) ? { ...wanted, cancelAfterMs: random() * LEAVE_MS } : wanted;

/** What went wrong, as text to how often. */
const faults = new Map();
let faultCount = 0;
function fault(text) {
  faultCount++;
  faults.set(text, (faults.get(text) ?? 0) + 1);
}

async function client(servers, state, random) {
  while (state.sent < state.until && performance.now() < state.deadline && faultCount < MAX_FAULTS) {
    const server = servers[state.sent++ % servers.length];
    const wanted = server.first.pop() ?? mayLeave(nextRequest(server.task, random), random);
    const { status, text, cancelled } = await send(server, wanted, random);
    state.kinds.set(wanted.kind, (state.kinds.get(wanted.kind) ?? 0) + 1);
    if (!cancelled && !wanted.expect.includes(status))
      fault(`${server.name}, ${wanted.kind}: ${status} ${text.slice(0, 150)}`);
  }
}

/** Sends requests until there were `until` of them, then waits; gives what each server's processes take at rest. */
async function phase(servers, watched, { state, until }) {
  state.until = until;
  const clients = Number(values.clients);
  await Promise.all(Array.from({ length: clients }, (_, i) => client(servers, state, randomFrom(until + i))));
  for (let i = 0; i < 3; i++) {
    await new Promise((tick) => setTimeout(tick, PAUSE_MS));
    for (const { pid } of watched) for (const each of tree(pid)) process.kill(each, 'SIGUSR2');
  }
  await new Promise((tick) => setTimeout(tick, PAUSE_MS));
  progress(watched, state);
  return watched.map(({ pid }) => rssOf(tree(pid)));
}

const mb = (bytes) => round(bytes / MB, 0);

function progress(servers, state) {
  const each = servers.map(({ name, pid }) => {
    const parent = rssOf([pid]);
    return `${name} ${mb(parent)}+${mb(rssOf(tree(pid)) - parent)}`;
  });
  console.log(`${state.sent}/${TOTAL} requests; RSS in MB (parent + children): ${each.join(', ')}`);
}

function growth({ name }, settled, last) {
  const ratio = round(last / settled, 3);
  if (!(ratio <= LIMIT)) fault(`${name}: memory grew to ${ratio} of what it was`);
  return { name, 'settled MB': mb(settled), 'at the end MB': mb(last), ratio };
}

/** Of servers of models and of gateways. */
const GAUGES =
  /^slipway_(?:gateway_)?(running|queued|pending_bytes|calls|questions|waiting)\b.* (?!0$)\S+$/gm;

/** What is still held for somebody, some seconds after the last one has gone. */
async function checkGauges({ name, metrics }) {
  const answer = await request(metrics);
  for (const [line] of (await answer.body.text()).matchAll(GAUGES)) fault(`${name}: still held: ${line}`);
}

async function checkEnd(server) {
  if (tree(server.pid).join() !== server.processes) fault(`${server.name}: a process died and was replaced`);
  if ((await probe(server)) !== server.answer)
    fault(`${server.name}: the first request has another answer now`);
}

const modelOf = ({ name, task, url }) => ({ id: idOf(name), task, url });

const servers = [];
let gateway;
try {
  for (const model of MODELS)
    if (!only || only.includes(model.name ?? model.task)) servers.push(await start(model));
  gateway = values.gateway && (await startGateway(servers.map(modelOf), { env: PRELOAD }));
  for (const server of servers) server.gateway = gateway;
  const watched = gateway ? [...servers, { ...gateway, name: 'gateway' }] : servers;
  const state = { sent: 0, kinds: new Map(), deadline: performance.now() + TIME_LIMIT_MS };
  const printing = setInterval(() => progress(watched, state), 10_000);
  const settled = await phase(servers, watched, { state, until: SETTLED });
  const last = await phase(servers, watched, { state, until: TOTAL });
  clearInterval(printing);
  if (state.sent < TOTAL) fault(`ended after ${state.sent} requests: too many faults or too slow`);
  for (const server of servers) await checkEnd(server);
  for (const each of watched) await checkGauges({ metrics: `${each.url}/metrics`, ...each });
  console.log(Array.from(state.kinds, ([kind, count]) => `${kind}: ${count}`).join(', '));
  table(watched.map((server, i) => growth(server, settled[i], last[i])));
} finally {
  for (const server of servers) await server.stop();
  await gateway?.stop();
  await agent.close();
}
for (const [text, count] of faults) console.log(`FAULT (${count} x) ${text}`);
if (faults.size > 0) process.exitCode = 1;
else console.log('no faults');
