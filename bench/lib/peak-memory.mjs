/** Plans a model as `builder plan` does, serves it, and compares the memory that it takes with the forecast. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { forecastFormats, defaultWorkers } from '../../dist/builder/plan/forecast.js';
import { planModel } from '../../dist/builder/plan/index.js';
import { folderSource } from '../../dist/runtime/store/folder.js';
import { pssOf, startServer } from '../lib.mjs';
import { peakPss, serverNode } from './processes.mjs';

const SAMPLE_MS = 10;
const SETTLE_MS = 300;

/** @returns predicted and measured bytes and seconds of a model { dir, task, dtype, requests } */
export async function comparePeak({ dir, task, dtype, requests }) {
  const plan = await planModel({ source: folderSource(dir), id: 'bench/model', task, dtype });
  const [predicted] = forecastFormats(plan, defaultWorkers());
  const measured = await measure({ dir, spec: plan.spec, requests });
  return { dtype: plan.spec.dtype, bytes: predicted.bytes, predicted, measured };
}

/** Peaks while it loads (trial runs included) and while it answers, what it holds once ready, and what it keeps. */
async function measure({ dir, spec, requests }) {
  const server = await startServer({ dir, spec, node: serverNode() });
  let readyMs = 0;
  const load = async () => (readyMs = await server.ready());
  const answer = async () => {
    for (const request of requests) await ask(server.url, request);
    await new Promise((settled) => setTimeout(settled, SETTLE_MS));
  };
  try {
    const loadPeakBytes = await peakPss(server.pid, load, SAMPLE_MS);
    const loadedBytes = pssOf(server.pid);
    const answerPeakBytes = await peakPss(server.pid, answer, SAMPLE_MS);
    const peakBytes = Math.max(loadPeakBytes, answerPeakBytes);
    const steadyBytes = pssOf(server.pid);
    return { peakBytes, loadPeakBytes, loadedBytes, answerPeakBytes, steadyBytes, readyMs };
  } finally {
    await server.stop();
  }
}

async function ask(url, body) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/run`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${answer.status} ${(await answer.text()).slice(0, 200)}`);
  await answer.arrayBuffer();
}

const FIXTURES = 'test/fixtures';

/** The reference models with the requests that the Python library answers, too. */
export function zooModels() {
  return ['zoo', 'zoo-own'].flatMap((root) =>
    readdirSync(join(FIXTURES, root)).flatMap((task) =>
      readdirSync(join(FIXTURES, root, task)).map((name) => {
        const folder = join(FIXTURES, root, task, name);
        return { name: `${task}/${name}`, task, dir: join(folder, 'repo'), requests: requestsOf(folder) };
      }),
    ),
  );
}

function requestsOf(folder) {
  const cases = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'));
  return cases.filter((each) => !each.expect_error).map(({ request }) => withFiles(folder, request));
}

/** Replaces {"$file": path} by the data URL of that file. */
function withFiles(folder, value) {
  if (typeof value !== 'object' || value === null) return value;
  if ('$file' in value) {
    const type = value.$file.endsWith('.png') ? 'image/png' : 'image/jpeg';
    return `data:${type};base64,${readFileSync(join(folder, value.$file)).toString('base64')}`;
  }
  if (Array.isArray(value)) return value.map((item) => withFiles(folder, item));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withFiles(folder, item)]));
}
