import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, Option } from 'commander';
import { DEFAULTS } from '../../runtime/core/limits.js';
import { createLogger, type Logger } from '../../runtime/log.js';
import { createByteBudget } from '../../runtime/wire/byte-budget.js';
import { createHttpServer } from '../../runtime/wire/server.js';
import type { Catalog } from '../catalog/entry.js';
import { fileCatalog, fixedCatalog } from '../catalog/file.js';
import { readEnvironment } from '../config.js';
import { GatewayError } from '../errors.js';
import { BASE, createApp } from '../http/app.js';
import { fileKeys, fixedKeys, type Keys, newKey } from '../keys/key-store.js';
import { createLimits } from '../limits.js';
import { readTiers } from '../meters.js';
import { count, duration, gigabytes, port, type Rate, rate } from '../options.js';
import { createPool } from '../upstream/pool.js';
import { processLauncher } from '../upstream/process.js';
import { staticUpstream } from '../upstream/static.js';
import type { Upstream } from '../upstream/upstream.js';

/** Of this program: dist/gateway/commands -> the package. */
const PACKAGE = fileURLToPath(new URL('../../../', import.meta.url));

const NOTES = `
Upstreams: "process" runs each model as a process of this machine, when it is asked for; "static" passes calls on to
the addresses of the catalogue. Docker and Kubernetes are not there yet.

The catalogue is YAML: models, each with id, task and, as wanted, params (billions), ramRequired (GB), addresses, from
(a folder). Without one, the bundled demo model is served.

Examples:
  gateway serve                                            the demo model, with a key made for this run
  gateway serve --catalog models.yaml --keys keys.json --memory 8GB --idle 5m
  gateway serve --catalog models.yaml --keys keys.json --upstream static`;

interface ServeFlags {
  port: number;
  host: string;
  upstream: 'process' | 'static';
  catalog?: string;
  keys?: string;
  prices: string;
  memory: number;
  idle: number;
  queue: number;
  rate: Rate;
  concurrent?: number;
}

/** `gateway serve`: the hosted interface. Its address on stdout, all else on stderr; ends with Ctrl-C. */
export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('Put many models behind one address')
    .option('--port <port>', 'port of this machine', port, 8080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(
      new Option('--upstream <kind>', 'where models answer')
        .choices(['process', 'static'])
        .default('process'),
    )
    .option('--catalog <file>', 'the models')
    .option('--keys <file>', 'the keys of "gateway keys"; without it one is made for this run and shown')
    .option('--prices <file>', 'tiers and prices', path.join(PACKAGE, 'gateway/prices.json'))
    .option('--memory <amount>', 'for all running models together', gigabytes, 8)
    .option('--idle <time>', 'stop a model that nobody has asked for so long', duration, 300_000)
    .option('--queue <callers>', 'callers that may wait for models to start', count, 256)
    .option('--rate <calls/time>', 'of each key', rate, { calls: 600, seconds: 60 })
    .option('--concurrent <calls>', 'of each key, under way at the same time', count)
    .addHelpText('after', NOTES)
    .action(serve);
}

/** The longest that clients wait for a cold model. */
const START_MS = 15 * 60_000;

async function serve(flags: ServeFlags): Promise<void> {
  const environment = readEnvironment();
  const logger = createLogger(environment.logFormat, environment.logLevel);
  const log = (line: string) => logger.info(line);
  const catalog = await catalogOf(flags, log);
  const keys = await keysOf(flags, log);
  const upstream = upstreamOf(flags, { log, env: environment.server });
  const app = createApp({
    ...{ catalog, keys, upstream, logger, startMs: START_MS },
    tiers: await readTiers(flags.prices),
    limits: createLimits({ ...flags.rate, concurrent: flags.concurrent }),
    body: { maxBytes: DEFAULTS.maxBodyBytes, budget: createByteBudget(DEFAULTS.maxPendingBytes) },
  });
  const server = createHttpServer(app);
  await listen(server, flags);
  const { port: taken } = server.address() as AddressInfo;
  process.stdout.write(`http://${flags.host}:${taken}${BASE}\n`);
  await stopOnSignals({ server, upstream, catalog, keys, logger });
}

function catalogOf({ catalog }: ServeFlags, log: (line: string) => void): Promise<Catalog> | Catalog {
  if (catalog !== undefined) return fileCatalog(path.resolve(catalog), log);
  const demo = {
    modelId: 'slipway/harbour-demo',
    task: 'text-generation',
    from: path.join(PACKAGE, 'demo/model'),
  } as const;
  return fixedCatalog([{ ...demo, params: null, ramRequired: 0.3, addresses: [] }]);
}

async function keysOf({ keys }: ServeFlags, log: (line: string) => void): Promise<Keys> {
  if (keys !== undefined) return fileKeys(path.resolve(keys), log);
  const { secret, record } = newKey('this run', new Date());
  // Not through the log: it may go to a file that outlives the run.
  process.stderr.write(`no --keys: this run takes the key ${secret}\n`);
  return fixedKeys([record]);
}

function upstreamOf(
  { upstream, memory, idle, queue }: ServeFlags,
  { log, env }: { log: (line: string) => void; env: NodeJS.ProcessEnv },
): Upstream {
  if (upstream === 'static') return staticUpstream();
  const launcher = processLauncher({ builder: path.join(PACKAGE, 'dist/builder/main.js'), env, log });
  return createPool({ launcher, memoryGb: memory, idleMs: idle, maxWaiting: queue, log });
}

async function listen(server: Server, { port: wanted, host }: ServeFlags): Promise<void> {
  server.listen(wanted, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const remedy = error.code === 'EADDRINUSE' ? 'it is taken; give another --port' : error.code;
    throw new GatewayError(`port ${wanted} of ${host} can't be opened: ${remedy}`);
  });
}

interface Running {
  server: Server;
  upstream: Upstream;
  catalog: Catalog;
  keys: Keys;
  logger: Logger;
}

const GRACE_MS = 30_000;

/** Resolves when a signal has ended it all: no new calls, what is under way may finish, then the models stop. */
async function stopOnSignals({ server, upstream, catalog, keys, logger }: Running): Promise<void> {
  const signal = await new Promise<string>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve(name));
  });
  logger.info(`${signal}: stops when the calls under way are done, in ${GRACE_MS / 1000} s at the latest`);
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearTimeout(late);
  await upstream.close();
  catalog.close();
  keys.close();
}
