/** A gateway in a process of its own, before servers that run already. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../scripts/testing/free-port.mjs';

/** @param models `{ id, task, url }` of each */
export async function startGateway(models, { main = 'dist/gateway/main.js', env = {} } = {}) {
  const { newKey } = await import('../../dist/gateway/keys/key-store.js');
  const dir = mkdtempSync(join(tmpdir(), 'slipway-bench-gateway-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const { secret, record } = newKey('bench', new Date());
  writeFileSync(join(dir, 'keys.json'), JSON.stringify({ version: 1, keys: [record] }));
  const rows = models.map(({ id, task, url }) => ({ id, task, addresses: [url] }));
  writeFileSync(join(dir, 'models.yaml'), JSON.stringify({ models: rows }));
  const [port, metricsPort] = [await freePort(), await freePort()];
  const flags = ['--upstream', 'static', '--catalog', join(dir, 'models.yaml')];
  flags.push('--keys', join(dir, 'keys.json'), '--rate', '1000000/1s', '--concurrent', '1000');
  flags.push('--port', String(port), '--metrics', String(metricsPort));
  const child = spawn(process.execPath, [main, 'serve', ...flags], {
    ...{ env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'ignore'] },
  });
  await new Promise((ready) => child.stdout.once('data', ready));
  return {
    pid: child.pid,
    url: `http://127.0.0.1:${port}`,
    metrics: `http://127.0.0.1:${metricsPort}/metrics`,
    headers: { authorization: secret },
    stop: () => new Promise((gone) => (child.once('exit', gone), child.kill('SIGTERM'))),
  };
}
