import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { createLogger } from '../../runtime/log.js';
import { followConnections } from '../../runtime/wire/connections.js';
import { createHttpServer } from '../../runtime/wire/server.js';
import { readEnvironment } from '../config.js';
import { createConsole } from '../console/app.js';
import { openConsoleKey } from '../console/key.js';
import { listenOnAddress, type ListenAddress, stopGatewayOnSignals, checkAddressFree } from '../listen.js';
import { adminApp } from '../http/admin.js';
import { BASE, createGatewayApp } from '../http/app.js';
import { composeGateway, type ServeFlags } from '../parts.js';
import { addServeOptions } from './serve-options.js';

const NOTES = `
Upstreams: "docker" runs each model as a container of its image ("builder build" makes one), "process" as a process on
this machine, both at the model's first call; "static" passes calls on to the addresses of the catalogue, "kubernetes" to
the Services that "builder manifest" has made in a namespace. Without --upstream: docker if an engine answers, else
process.

The catalogue is YAML: models, each with id and task, and optionally params (billions), ramRequired (GB), addresses, from
(a folder) or remote (who else serves it; docs/operations/gateway.md). With docker, all model images of the engine are served, with kubernetes all such Services; the file adds to
them. With process and no catalogue, the bundled demo model is served.

In the environment: REDIS_URL lets several gateways share the limits of keys (redis://:password@host:6379), HF_TOKEN is
given to models that download, LOG_FORMAT=json makes the log JSON lines. MAX_BODY_BYTES, MAX_BODY_VALUES and
MAX_PENDING_BYTES limit request bodies as they do in model servers; servers run as processes inherit them. The address
goes to stdout, the log to stderr.

Examples:
  gateway serve                                            all model images of the engine, or the demo model
  gateway serve --catalog models.yaml --keys keys.json --memory 8GB --idle 5m
  gateway serve --catalog models.yaml --keys keys.json --usage usage.jsonl --audit audit.jsonl --metrics 9464
  gateway serve --catalog models.yaml --keys keys.json --console 9465
  gateway serve --catalog models.yaml --keys keys.json --upstream static
  gateway serve --upstream kubernetes --keys keys.json     in a pod; elsewhere with --kube-api and --kube-namespace`;

/** `gateway serve`. Prints the address on stdout and everything else on stderr; Ctrl-C ends it. */
export function serveCommand(program: Command): void {
  const command = program.command('serve').description('Put many models behind one address');
  addServeOptions(command);
  command.addHelpText('after', NOTES).action(serve);
}

interface ListenFlags {
  port: number;
  host: string;
  /** Milliseconds. */
  grace: number;
  metrics?: { port: number; host: string };
  console?: { port: number; host: string };
  consoleKeyFile?: string;
}

async function serve(flags: ServeFlags & ListenFlags): Promise<void> {
  const callAddress: ListenAddress = { port: flags.port, host: flags.host, flag: '--port' };
  const metrics: ListenAddress | undefined = flags.metrics && { ...flags.metrics, flag: '--metrics' };
  const forConsole: ListenAddress | undefined = flags.console && { ...flags.console, flag: '--console' };
  const environment = readEnvironment();
  const logger = createLogger(environment.logFormat, environment.logLevel, 'stderr');
  // Not logged: the log may go to a file that outlives this run.
  const print = (line: string) => void process.stderr.write(line);
  const consoleKey = forConsole && openConsoleKey(forConsole.host, flags.consoleKeyFile, print);
  for (const address of [callAddress, metrics, forConsole]) if (address) await checkAddressFree(address);
  const gateway = await composeGateway(flags, environment, logger);
  const server = createHttpServer(createGatewayApp(gateway.app));
  const connections = followConnections(server);
  await listenOnAddress(server, callAddress);
  const { port: boundPort } = server.address() as AddressInfo;
  const operators: Server[] = [];
  if (metrics) operators.push(await openServer(adminApp(gateway.metrics), metrics));
  const page = forConsole && createConsole(gateway.console(consoleKey!, forConsole.host, boundPort));
  if (page) operators.push(await openServer(page.app, forConsole));
  const host = flags.host.includes(':') ? `[${flags.host}]` : flags.host;
  process.stdout.write(`http://${host}:${boundPort}${BASE}\n`);
  await stopGatewayOnSignals({ server, connections, graceMs: flags.grace, logger });
  page?.close();
  await gateway.close();
  for (const opened of operators) {
    opened.close();
    opened.closeAllConnections();
  }
}

/** A server for operators, which ends with the gateway. */
async function openServer(app: RequestListener, address: ListenAddress): Promise<Server> {
  const server = createHttpServer(app);
  await listenOnAddress(server, address);
  return server;
}
