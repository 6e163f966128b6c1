import * as z from 'zod';
import type { Check } from '../check.js';
import {
  CheckFailure,
  demand,
  get,
  JSON_TYPE,
  outputOf,
  postRaw,
  requireError,
  type ServerUnderTest,
  shown,
} from '../server.js';

const STATUS = z.object({
  state: z.literal('ready'),
  model: z.string(),
  task: z.string(),
  version: z.string(),
  commit: z.string(),
  device: z.object({ used: z.string() }),
});

/** The routes around POST /run, and the answers to what is no route. */
export const ROUTE_CHECKS: readonly Check[] = [
  check('GET /health', async (server) => {
    demand(outputOf(await get(server, '/health')) === 'ready', 'the output is not "ready"');
    const head = await get(server, '/health', 'HEAD');
    demand(head.status === 200 && head.bytes.length === 0, `HEAD: ${shown(head)}`);
    return 'ready';
  }),
  check('GET /livez', async (server) => String(outputOf(await get(server, '/livez')))),
  check('GET /status', async (server) => {
    const { model, task, commit, device } = STATUS.parse(outputOf(await get(server, '/status')));
    const { described } = server;
    demand(model === described.model && task === described.task, `it is ${model}, ${task}: not as described`);
    return `${model} at ${commit.slice(0, 12)}, ${task}, on ${device.used}`;
  }),
  check('GET /version', async (server) => {
    const answer = await get(server, '/version');
    demand(answer.status === 200, `expected 200: ${shown(answer)}`);
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(answer.bytes.toString()));
    demand(version === server.described.version, `${version} is not that of /openapi.json`);
    return version;
  }),
  check('GET /metrics', async (server) => {
    const answer = await get(server, '/metrics');
    demand(answer.status === 200, `expected 200: ${shown(answer)}`);
    demand(Boolean(answer.headers['content-type']?.startsWith('text/plain')), `not text: ${shown(answer)}`);
    return metricsText(answer.bytes.toString('utf8'));
  }),
  check('GET /openapi.json', async ({ described }) => {
    // It was parsed before the first check, and every other check goes by it.
    return `${Object.keys(described.params).length} parameters, ${described.streams ? 'streams text' : 'no stream'}`;
  }),
  check('request ids', async (server) => {
    const answers = [await get(server, '/health'), await get(server, '/nowhere'), await get(server, '/run')];
    const ids = answers.map(({ headers }) => headers['x-request-id'] ?? '');
    demand(!ids.includes(''), 'an answer has no X-Request-Id');
    demand(new Set(ids).size === ids.length, `two answers have the same X-Request-Id: ${ids.join(', ')}`);
    return 'every answer has one of its own';
  }),
  check('404', async (server) => {
    requireError(await get(server, '/nowhere'), [404]);
    requireError(await postRaw(server, '{}', { path: '/run/more' }), [404]);
    return `in the envelope, as ${JSON_TYPE}`;
  }),
  check('405', async (server) => {
    for (const [method, path, allow] of [
      ['GET', '/run', 'POST'],
      ['PUT', '/run', 'POST'],
      ['DELETE', '/health', 'GET, HEAD'],
    ] as const) {
      const answer = await get(server, path, method);
      requireError(answer, [405]);
      demand(
        answer.headers['allow'] === allow,
        `${method} ${path}: Allow is not "${allow}": ${shown(answer)}`,
      );
    }
    return 'with Allow';
  }),
];

function check(name: string, run: (server: ServerUnderTest) => Promise<string>): Check {
  return { group: 'routes', name, run };
}

const SAMPLE = /^[a-zA-Z_:][\w:]*(?:\{[^}]*\})? -?(?:[\d.eE+-]+|\+Inf|-Inf|NaN)$/;

/** @throws CheckFailure for a line that is no sample of Prometheus, or when the server does not say that it is ready */
function metricsText(text: string): string {
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const strange = samples.find((line) => !SAMPLE.test(line));
  if (strange !== undefined) throw new CheckFailure(`no sample of Prometheus: ${strange.slice(0, 100)}`);
  demand(samples.includes('slipway_ready 1'), 'there is no "slipway_ready 1"');
  return `${samples.length} samples`;
}
