import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AppParts, createGatewayApp } from '../../gateway/http/app.js';
import { fixedCatalog } from '../../gateway/catalog/entries.js';
import type { ModelEntry } from '../../gateway/catalog/entry.js';
import { fixedKeys, newKey } from '../../gateway/keys/key-store.js';
import type { LimitOptions } from '../../gateway/limits/bucket.js';
import { createLimits } from '../../gateway/limits/limits.js';
import { readTiers } from '../../gateway/meters.js';
import { staticUpstream } from '../../gateway/upstream/static.js';
import { callLog } from '../../gateway/records/call-log.js';
import { createLogger } from '../../runtime/log.js';
import { createByteBudget } from '../../runtime/wire/byte-budget.js';
import { createHttpServer, type ServerTimes } from '../../runtime/wire/server.js';
import { freePort } from './server.js';

/** The one key that the gateways of tests know. */
export const { secret, record } = newKey('test', new Date(0));

export const JSON_TYPE = 'application/json; charset=utf-8';

const servers: Server[] = [];

/** For afterEach: ends what `gateway` and `started` have opened. */
export async function closeServers(): Promise<void> {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
}

/** @returns its address, without a path */
export async function started(server: Server): Promise<string> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface GivenGateway {
  /** The container behind the gateway. */
  container?: RequestListener;
  limits?: Partial<LimitOptions>;
  models?: Partial<ModelEntry>[];
  times?: Partial<ServerTimes>;
  parts?: Partial<AppParts>;
}

/** A gateway in front of one container; gives the address below which models lie. */
export async function gateway(given: GivenGateway = {}): Promise<string> {
  return `${await started(await gatewayServer(given))}/models/v2`;
}

/** The same, not listening yet. */
export async function gatewayServer({
  container,
  limits,
  models = [{}],
  times = {},
  parts = {},
}: GivenGateway = {}): Promise<Server> {
  const address = container ? await started(createServer(container)) : `http://127.0.0.1:${await freePort()}`;
  const entries = models.map((model) => ({
    ...{ modelId: 'org/name', task: 'text-generation' as const, params: 0.1, ramRequired: 1 },
    ...{ addresses: [address], figures: 'given' as const },
    ...model,
  }));
  const { logger = createLogger('json', 'silent') } = parts;
  const app = createGatewayApp({
    catalog: fixedCatalog(entries),
    upstream: staticUpstream(),
    keys: fixedKeys([record]),
    limits: createLimits({ calls: 1000, seconds: 60, ...limits }),
    tiers: await readTiers('gateway/prices.json'),
    body: { maxBytes: 2 ** 20, budget: createByteBudget(2 ** 22) },
    ...{ startMs: 5000, callMs: 60_000 },
    logger,
    onCall: callLog(logger),
    ...parts,
  });
  return createHttpServer(app, times);
}
