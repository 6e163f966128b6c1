import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpTransport } from '../../builder/conformance/http-transport.js';
import { type Group, GROUPS } from '../../builder/conformance/check.js';
import { runChecks } from '../../builder/conformance/run-checks.js';
import type { Answer, Call, Transport } from '../../builder/conformance/transport.js';
import { VERSION } from '../../runtime/version.js';
import { openApiOf } from '../../runtime/boot/openapi.js';
import { runCli } from '../../builder/cli.js';
import { readBuilderConfig } from '../../builder/config.js';
import { fakeApp } from '../fakes/app.js';
import { fakeDocker } from '../fakes/docker.js';
import { sink } from '../unit/builder/support.js';

const TASK = 'text-classification';
const SPEC = { id: 'test/model', task: TASK, commit: '0'.repeat(40) } as const;

const details = {
  ...{ model: SPEC.id, task: TASK, commit: SPEC.commit, version: VERSION, engine_restarts: 0 },
  ...{ device: { used: 'cpu' }, example: { text: 'a fine day' } },
};

let server: Server;
let address: string;
let honest: Transport;

beforeAll(async () => {
  const app = fakeApp({
    task: TASK,
    run: async () => [{ label: 'joy', score: 0.5 }],
    status: () => ({ state: 'ready', details }),
    openapi: () => openApiOf(SPEC, VERSION),
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  honest = httpTransport(address);
});
afterAll(() => void server.close());

async function failing(transport: Transport, noticed: readonly string[] = []): Promise<string[]> {
  const groups = noticed.map((name) => name.split(' ')[0] as Group);
  const only = groups.length > 0 ? { only: groups } : {};
  const { results } = await runChecks(transport, { headers: {}, say: () => undefined, ...only });
  return results.filter(({ passed }) => !passed).map(({ group, check }) => `${group} ${check}`);
}

test('a server that keeps the contract passes every check, and every parameter has one', async () => {
  // The dialects ask for more than a made-up model can say: test/parity/conformance-dialects.test.ts.
  const only = GROUPS.filter((group) => group !== 'dialects');
  const { described, results } = await runChecks(honest, { headers: {}, only, say: () => undefined });
  expect(results.filter(({ passed }) => !passed)).toEqual([]);
  expect(results.filter(({ group }) => group === 'params').map(({ check }) => check)).toEqual(
    Object.keys(described.params),
  );
});

test('only the groups that are asked for', async () => {
  const { results } = await runChecks(honest, { headers: {}, only: ['routes'], say: () => undefined });
  expect(new Set(results.map(({ group }) => group))).toEqual(new Set(['routes']));
});

/** The honest server, but for what `change` makes of its answers. */
function faulty(change: (answer: Answer, call: Call, body: string) => Answer): Transport {
  return {
    async send(call) {
      return change(await honest.send(call), call, call.body?.toString('utf8') ?? '');
    },
  };
}

const without = (name: string) =>
  faulty((answer) => ({
    ...answer,
    headers: Object.fromEntries(Object.entries(answer.headers).filter(([header]) => header !== name)),
  }));
const saying = (from: RegExp, to: string) =>
  faulty((answer) => ({ ...answer, bytes: Buffer.from(answer.bytes.toString('utf8').replace(from, to)) }));
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
let calls = 0;

/** A fault, and checks that have to notice it. */
const FAULTS: readonly (readonly [name: string, transport: () => Transport, noticed: string[]])[] = [
  ['no request ids', () => without('x-request-id'), ['routes request ids']],
  ['no Allow', () => without('allow'), ['routes 405']],
  [
    'a content type without charset',
    () =>
      faulty((answer) => ({ ...answer, headers: { ...answer.headers, 'content-type': 'application/json' } })),
    ['routes GET /health', 'routes 404', 'answers golden request', 'bodies empty input'],
  ],
  [
    'HTML for what is not there',
    () =>
      faulty((answer) => (answer.status === 404 ? { ...answer, bytes: Buffer.from('<p>no</p>') } : answer)),
    ['routes 404'],
  ],
  ['errors without "output"', () => saying(/,"output":null/, ''), ['routes 404', 'bodies malformed JSON']],
  [
    'a stack trace',
    () => saying(/is required/, 'failed\\n    at run'),
    ['bodies empty input', 'bodies missing fields'],
  ],
  ['metrics that are none', () => saying(/^slipway_ready 1$/m, 'slipway_ready yes'), ['routes GET /metrics']],
  ['another version', () => saying(/^\{"version":"[^"]*"\}$/, '{"version":"9"}'), ['routes GET /version']],
  ['another output than described', () => saying(/"score":0\.5/, '"score":null'), ['answers golden request']],
  [
    'an answer of its own each time',
    () =>
      faulty((answer) => ({
        ...answer,
        bytes: Buffer.from(answer.bytes.toString().replace('0.5', `0.${++calls}`)),
      })),
    ['answers repeat', 'answers together'],
  ],
  [
    'a wrong parameter that is taken',
    () => faulty((answer, _, body) => (/"top_k":"~"/.test(body) ? { ...answer, status: 200 } : answer)),
    ['params top_k'],
  ],
  ['a refusal that names nothing', () => saying(/params\.top_k: /, ''), ['params top_k']],
  [
    '500 for an empty text',
    () => faulty((answer, _, body) => (/"text":""/.test(body) ? { ...answer, status: 500 } : answer)),
    ['bodies empty and strange texts'],
  ],
  [
    'bodies of any size and type',
    () => faulty((answer) => ([413, 415].includes(answer.status) ? { ...answer, status: 400 } : answer)),
    ['bodies 415', 'bodies 413'],
  ],
];

test.each(FAULTS)('%s is noticed', async (_, transport, noticed) => {
  expect(await failing(transport(), noticed)).toEqual(expect.arrayContaining(noticed));
});

test('a model process that was started again meanwhile is noticed', async () => {
  let asked = 0;
  const transport = faulty((answer, { path }) =>
    path === '/status'
      ? {
          ...answer,
          bytes: json({ error: null, output: { state: 'ready', ...details, engine_restarts: asked++ } }),
        }
      : answer,
  );
  expect(await failing(transport, ['after no crash'])).toEqual(['after no crash']);
});

test('what does not describe itself is refused with the reason', async () => {
  await expect(failing(saying(/"openapi":"3.1.0"/, '"openapi":"2.0"'))).rejects.toThrow(
    /^GET \/openapi\.json does not describe a model/,
  );
});

async function cli(...args: string[]) {
  const [out, err] = [sink(), sink()];
  const config = readBuilderConfig({ KEY: 'secret' });
  const deps = {
    config,
    docker: fakeDocker(),
    packageRoot: '.',
    version: '1',
    stdout: out.stream,
    stderr: err.stream,
  };
  return { code: await runCli(['test', ...args], deps), stdout: out.text(), stderr: err.text() };
}

describe('builder test', () => {
  test('a server that passes: exit 0 and one document', async () => {
    const { code, stdout } = await cli(`${address}/`, '--only', 'routes,params', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ target: `${address}/`, model: SPEC.id, task: TASK, passed: true },
      checks: expect.arrayContaining([
        {
          group: 'params',
          check: 'top_k',
          passed: true,
          detail: '1 is taken',
          milliseconds: expect.any(Number),
        },
      ]),
    });
  });

  test('a server that fails: exit 1, and which checks have failed', async () => {
    details.device.used = 5 as never;
    const { code, stdout, stderr } = await cli(address, '--only', 'routes,after', '--quiet');
    details.device.used = 'cpu';
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ok {4}routes {2}404 +in the envelope/m);
    expect(stdout).toMatch(/^FAIL {2}routes {2}GET \/status +.*expected string, received number/m);
    expect(stderr).toBe(`builder: ${address} fails 1 of 12 checks: routes GET /status\n`);
  });

  test.each([
    [['http://127.0.0.1:1', '--wait', '1'], 1, 'is not ready after 1 s'],
    [['no/such:image'], 1, 'is no image of this engine'],
    [['http://127.0.0.1:1', '--only', 'everything'], 2, 'expected some of'],
    [['http://127.0.0.1:1', '--wait', 'long'], 2, 'expected a number of seconds'],
  ])('%j: exit %d', async (args, expected, message) => {
    const { code, stderr } = await cli(...args);
    expect(code).toBe(expected);
    expect(stderr).toContain(message);
  });
});
