import { runGatewayChecks } from '../../builder/conformance/gateway.js';
import { secret } from '../fakes/gateway.js';
import { PLAYGROUND } from '../browser/support/page-server.js';
import { type ZooGateway, zooGateway } from '../fakes/zoo-gateway.js';

const TASKS = ['chat', 'sentence-similarity', 'text-classification', 'image-classification'] as const;

let gateway: ZooGateway;
beforeAll(async () => {
  gateway = await zooGateway(TASKS, { playground: PLAYGROUND });
}, 60_000);
afterAll(() => gateway.close());

const checked = (task: string, key: string) =>
  runGatewayChecks(gateway.base.replace('/models/v2', ''), `zoo/${task}`, {
    headers: { authorization: `Key ${key}` },
    say: () => undefined,
  });

test.each(TASKS)(
  'a model of %s behind a gateway passes every check, at its address and in the catalogue',
  async (task) => {
    const { results, described } = await checked(task, secret);
    expect(results.filter(({ passed }) => !passed)).toEqual([]);
    expect(described.model).toBe(`zoo/${task}`);
    expect(results.filter(({ check }) => check.endsWith('(catalogue)')).length).toBeGreaterThan(10);
  },
  120_000,
);

test('a key that is none is told before any check', async () => {
  await expect(checked('chat', 'wrong')).rejects.toThrow(/does not describe a model.*401/);
});

test('a model that is not there is told before any check', async () => {
  await expect(checked('none', secret)).rejects.toThrow(/does not describe a model.*404/);
});
