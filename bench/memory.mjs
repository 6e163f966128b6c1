/**
 * Memory of the server's two processes (PSS): with a model of next to no weight, while loading a 90 MB model, and after.
 * Limits: 170 MB before a model; after loading 1.1 x the weights more; while loading 2.1 x the weights more.
 */
import { resolve } from 'node:path';
import { benchModel, bytesOf, MB, pssOf, startServer, table } from './lib.mjs';

async function measure(dir, task) {
  const server = await startServer({ dir, task });
  let peak = 0;
  const sampling = setInterval(() => (peak = Math.max(peak, pssOf(server.pid))), 5);
  const readyMs = await server.ready();
  await fetch(`${server.url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'A quiet river runs through the valley.' }),
  });
  clearInterval(sampling);
  await new Promise((settle) => setTimeout(settle, 500));
  const loaded = pssOf(server.pid);
  await server.stop();
  return { readyMs, peak, loaded };
}

const small = resolve('test/fixtures/zoo/text-classification/distilbert/repo');
const large = benchModel('bench_encoder.py');
const weights = bytesOf(large, /\.onnx/);
const base = await measure(small, 'text-classification');
const model = await measure(large, 'feature-extraction');
const mb = (bytes) => Number((bytes / MB).toFixed(1));
const row = (name, bytes, limit) => ({ name, MB: mb(bytes), 'limit MB': mb(limit), ok: bytes <= limit });
const rows = [
  row('server without a model', base.loaded, 170 * MB),
  row('after loading', model.loaded, 170 * MB + 1.1 * weights),
  row('peak while loading', model.peak, 170 * MB + 2.1 * weights),
];
console.log(`weights ${mb(weights)} MB, ready after ${Math.round(model.readyMs)} ms`);
table(rows);
if (rows.some((each) => !each.ok)) process.exitCode = 1;
