import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createGatewayMetrics } from '../../../gateway/records/metrics.js';
import { openRecords } from '../../../gateway/records/records.js';
import { readUsage } from '../../../gateway/usage/file.js';
import { createLogger } from '../../../runtime/log.js';

const ENDED = {
  ...{
    requestId: 'r',
    method: 'POST',
    route: undefined,
    path: '/models/v2/a/b',
    status: 200,
    code: undefined,
  },
  ...{ milliseconds: 30, address: '::1', keyId: 'k1', refusedKey: undefined, cold: false, waitedMs: 0 },
  ...{ model: { modelId: 'a/b', task: 'text-generation' as const }, seconds: 0.02, cost: 0.5 },
  tokens: { in: 3, out: 4 },
};

test('a call that ends just before the gateway does is in the log, the metrics and the usage', async () => {
  const usage = path.join(await mkdtemp(path.join(tmpdir(), 'slipway-records-')), 'usage.jsonl');
  const lines: string[] = [];
  const logger = createLogger('json', 'silent');
  logger.info = ((_facts: object, line: string) => lines.push(line)) as never;
  const metrics = createGatewayMetrics({
    running: () => [],
    waiting: () => 0,
    activeCalls: () => 0,
    pendingBytes: () => 0,
    pendingRequests: () => 0,
  });
  const records = await openRecords({ usage }, { logger, metrics });
  records.call(ENDED);
  await records.close();
  const rows = (await readUsage(usage)).rows();
  expect(rows).toMatchObject([{ key: 'k1', model: 'a/b', calls: 1, cost: 0.5, tokensIn: 3, tokensOut: 4 }]);
  expect(lines).toEqual(['POST /models/v2/a/b']);
  const text = await metrics.text();
  const labels = 'key="k1",model="a/b",source="gateway"';
  for (const line of [
    `key_calls_total{${labels}} 1`,
    `key_cost_dollars_total{${labels}} 0.5`,
    `key_tokens_total{${labels},direction="in"} 3`,
    `key_tokens_total{${labels},direction="out"} 4`,
  ])
    expect(text).toContain(`slipway_gateway_${line}\n`);
});
