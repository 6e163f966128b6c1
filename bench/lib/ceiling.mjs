/** What the load generator can do at most: requests a second against a server that answers at once. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startLoad } from './load.mjs';
import { round } from './numbers.mjs';

export async function loadCeiling({ connections = 32, seconds = 2 } = {}) {
  const server = fork(new URL('trivial-server.mjs', import.meta.url));
  const [port] = await once(server, 'message');
  const load = startLoad();
  const requests = [{ path: '/', body: JSON.stringify({ text: 'the '.repeat(60) }) }];
  const job = { url: `http://127.0.0.1:${port}`, pid: server.pid, requests, connections };
  const { rate, loadCpuMs } = await load.run({ ...job, warmSeconds: 1, seconds });
  load.stop();
  server.kill();
  const result = { 'requests/s': round(rate, 0), 'CPU ms per request': round(loadCpuMs, 3) };
  console.log(
    `load generator alone: ${result['requests/s']} requests/s, ${result['CPU ms per request']} ms of CPU each`,
  );
  return result;
}
