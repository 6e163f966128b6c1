import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fixedCatalog } from '../../gateway/catalog/entries.js';
import type { Catalog, ModelEntry } from '../../gateway/catalog/entry.js';
import type { AuditEvent } from '../../gateway/audit/audit-log.js';
import { createConsole } from '../../gateway/console/app.js';
import type { ConsoleAudit } from '../../gateway/console/audit.js';
import { createIncidents } from '../../gateway/console/incidents.js';
import type { ConsoleState, PlaygroundPlace } from '../../gateway/console/state.js';
import { adminApp } from '../../gateway/http/admin.js';
import { fileKeys, fixedKeys, hashKey } from '../../gateway/keys/key-store.js';
import type { FinishedCall } from '../../gateway/records/finished-call.js';
import { createGatewayMetrics } from '../../gateway/records/metrics.js';
import { usageRow } from '../../gateway/records/usage-row.js';
import { countWaiting } from '../../gateway/upstream/count-waiting.js';
import type { Launcher } from '../../gateway/upstream/upstream.js';
import { createLogger } from '../../runtime/log.js';
import { createHttpServer } from '../../runtime/wire/server.js';
import { closeServers, gateway, JSON_TYPE, record, secret, started } from './gateway.js';
import { pool } from './launcher.js';

/** The key that opens the consoles of tests. */
export const CONSOLE_KEY = 'the-key-of-the-console';

export const CONSOLE_PAGE = pathToFileURL(join(import.meta.dirname, '../../dist/gateway/console/page/'));

export interface GivenConsole {
  models?: Partial<ModelEntry>[];
  /** Why servers of models do not start, by model. */
  failures?: Readonly<Record<string, string>>;
  /** Answers the calls of all models. */
  container?: RequestListener;
  catalog?: Partial<Catalog>;
  /** Names of keys in the file, beside the one of the tests; null for no file. */
  keyNames?: readonly string[] | null;
  isLocal?: boolean;
  /** Of each key. */
  rate?: { calls: number; seconds: number };
  playground?: PlaygroundPlace | null;
}

const answering: RequestListener = (request, response) => {
  request.resume();
  response.setHeader('Content-Type', JSON_TYPE);
  response.end('{"error":null,"output":"done"}');
};

/** A gateway over a pool of made-up servers, its console and its metrics, all listening. */
export async function consoleGateway(given: GivenConsole = {}) {
  const { models = [{}], failures = {}, container = answering, isLocal = true, playground = null } = given;
  const { rate = { calls: 600, seconds: 60 } } = given;
  const entries = models.map((model) => ({
    ...{ modelId: 'org/name', task: 'text-generation' as const, params: 0.1, ramRequired: 0.5 },
    ...{ addresses: [], figures: 'given' as const, ...model },
  }));
  const catalog = { ...fixedCatalog(entries), ...given.catalog };
  const keysFile = given.keyNames === null ? undefined : await keyFile(given.keyNames ?? []);
  const keys = keysFile === undefined ? fixedKeys([record]) : await fileKeys(keysFile, { log: () => {} });
  const incidents = createIncidents();
  const launcher = fakeServers(await started(createServer(container)), failures);
  const upstream = countWaiting(pool(launcher, { onEvent: incidents.model }));
  const metrics = createGatewayMetrics({
    ...{ running: () => upstream.status!(), waiting: upstream.waiting },
    ...{ activeCalls: () => 0, pendingBytes: () => 0, pendingRequests: () => 0 },
  });
  const onCall = (call: FinishedCall) => {
    metrics.count(call);
    const row = usageRow(call);
    if (row) metrics.addUsage(row);
    incidents.call(call);
  };
  const base = await gateway({ limits: rate, parts: { catalog, upstream, keys, onCall } });
  const audited: AuditEvent[] = [];
  const audit: ConsoleAudit = {
    write: (event) => void audited.push(event),
    refused: (address) => void audited.push({ event: 'console-key-refused', address }),
  };
  const page = createConsole({
    ...{ catalog, upstream, keys, metrics, incidents, playground, audit, isLocal, startMs: 5000 },
    ...{
      key: CONSOLE_KEY,
      folder: CONSOLE_PAGE,
      logger: createLogger('json', 'silent'),
      everyMs: 20,
      sampleMs: 50,
    },
    limits: { ...rate, concurrent: null },
  });
  const address = await started(createHttpServer(page.app));
  const admin = await started(createServer(adminApp(metrics)));
  return {
    address,
    /** Of the keys; undefined without one. */
    keysFile,
    /** What the audit log got. */
    audited,
    listeners: page.listeners,
    call: (id: string, key = secret) =>
      fetch(`${base}/${id}`, {
        method: 'POST',
        headers: { authorization: key, 'content-type': 'application/json' },
        body: '{"text":"x"}',
      }),
    metricsText: async () => (await fetch(`${admin}/metrics`)).text(),
    async close() {
      page.close();
      keys.close();
      await upstream.close();
    },
  };
}

/** Servers at one address, which live until they are stopped. */
function fakeServers(url: string, failures: Readonly<Record<string, string>>): Launcher {
  return {
    async launch({ modelId }) {
      const failure = failures[modelId];
      if (failure !== undefined) throw new Error(failure);
      let end!: (reason: string) => void;
      const ended = new Promise<string>((resolve) => (end = resolve));
      return { url, ended, isAlive: async () => true, stop: async () => end('stopped') };
    },
  };
}

async function keyFile(names: readonly string[]) {
  const file = join(await mkdtemp(join(tmpdir(), 'console-')), 'keys.json');
  const named = names.map((name, i) => ({
    ...{ id: `named-${i}`, name, hash: hashKey(name), created: new Date(0).toISOString() },
  }));
  await writeFile(file, JSON.stringify({ version: 1, keys: [record, ...named] }));
  return file;
}

export interface Asking {
  method?: string;
  body?: object | string;
  headers?: Record<string, string>;
}

/** Asks a console as its page does. @param cookie of a session; none where absent */
export async function askConsole(address: string, path: string, asking: Asking = {}, cookie = '') {
  const { method = 'GET', body, headers = {} } = asking;
  const response = await fetch(`${address}${path}`, {
    method,
    headers: { cookie, 'x-slipway-console': '1', 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const { error, output } = (await response.json()) as { error: string | null; output: unknown };
  return { status: response.status, headers: response.headers, error, output };
}

/** Signs in. @returns the cookie of the session */
export async function signIn(address: string): Promise<string> {
  const { headers } = await askConsole(address, '/session', { method: 'POST', body: { key: CONSOLE_KEY } });
  return headers.get('set-cookie')!.split(';')[0]!;
}

const closing: (() => Promise<unknown>)[] = [];

/** For afterEach: ends what `openConsole` has opened. */
export async function closeConsoles(): Promise<void> {
  for (const close of closing.splice(0)) await close();
  await closeServers();
}

/** A gateway whose console is open for somebody who has signed in. */
export async function openConsole(given: GivenConsole = {}) {
  const gateway = await consoleGateway(given);
  closing.push(gateway.close);
  const cookie = await signIn(gateway.address);
  const ask = (path: string, method = 'GET', body?: object | string) =>
    askConsole(gateway.address, path, { method, ...(body && { body }) }, cookie);
  const state = async () => (await ask('/api/state')).output as ConsoleState;
  const model = async (id: string) => (await state()).models.find((model) => model.id === id)!;
  return { ...gateway, cookie, ask, state, model };
}
