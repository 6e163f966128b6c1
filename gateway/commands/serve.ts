import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { createLogger } from '../../runtime/log.js';
import { createHttpServer } from '../../runtime/wire/server.js';
import { UPSTREAMS } from '../backend.js';
import { readEnvironment } from '../config.js';
import { listen, type Place, stopOnSignals, tryPlace } from '../listen.js';
import { adminApp } from '../http/admin.js';
import { BASE, createApp } from '../http/app.js';
import {
  address,
  count,
  dnsLabel,
  duration,
  gatewayName,
  gigabytes,
  httpAddress,
  port,
  rate,
} from '../options.js';
import { PACKAGE } from '../package.js';
import { composeGateway, type ServeFlags } from '../parts.js';

const NOTES = `
Upstreams: "docker" runs each model as a container of its image ("builder build" makes one), "process" as a process of
this machine, both when it is asked for; "static" passes calls on to the addresses of the catalogue, "kubernetes" to the
Services that "builder manifest" has made in a namespace. Without --upstream: docker where an engine answers, else
process.

The catalogue is YAML: models, each with id, task and, as wanted, params (billions), ramRequired (GB), addresses, from
(a folder). With docker, all model images of the engine are served, with kubernetes all such Services, and the file adds to
what is known of them. With process and no catalogue, the bundled demo model is served.

REDIS_URL in the environment lets several gateways share the limits of keys: redis://:password@host:6379.

Examples:
  gateway serve                                            all model images of the engine, or the demo model
  gateway serve --catalog models.yaml --keys keys.json --memory 8GB --idle 5m
  gateway serve --catalog models.yaml --keys keys.json --usage usage.jsonl --audit audit.jsonl --metrics 9464
  gateway serve --catalog models.yaml --keys keys.json --upstream static
  gateway serve --upstream kubernetes --keys keys.json     in a pod; elsewhere with --kube-api and --kube-namespace`;

const PRICES = path.join(PACKAGE, 'gateway/prices.json');

/** `gateway serve`: the hosted interface. Its address on stdout, all else on stderr; ends with Ctrl-C. */
export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('Put many models behind one address')
    .option('--port <port>', 'port of this machine', port, 8080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(new Option('--upstream <kind>', 'where models answer').choices(UPSTREAMS))
    .option('--catalog <file>', 'the models')
    .option('--name <name>', 'of this gateway, among others on the same engine', gatewayName, 'default')
    .option(
      '--namespace <name>',
      'serve images of this namespace only, as "builder build --namespace" has made them',
    )
    .option('--offline', 'containers reach nothing outside: for images that hold their weights')
    .option('--keys <file>', 'the keys of "gateway keys"; without it one is made for this run and shown')
    .addOption(
      new Option('--prices <file>', 'tiers and prices').default(
        PRICES,
        'gateway/prices.json of this program',
      ),
    )
    .option('--memory <amount>', 'for all running models together', gigabytes, 8)
    .option('--idle <time>', 'stop a model that nobody has asked for so long', duration, 300_000)
    .option('--queue <callers>', 'callers that may wait for models to start', count, 256)
    .option('--replicas <servers>', 'most servers of one model, where memory allows', count, 2)
    .option('--busy-at <calls>', 'calls at a time from which on a server is busy', count, 16)
    .option('--rate <calls/time>', 'of each key', rate, { calls: 600, seconds: 60 })
    .option('--concurrent <calls>', 'of each key, under way at the same time', count)
    .option(
      '--metrics <[host:]port>',
      'Prometheus metrics, for operators: without a host on 127.0.0.1',
      address,
    )
    .option('--usage <file>', 'keep what keys use of models, for "gateway usage"')
    .option('--audit <file>', 'keep who was refused and what was started; reopened on SIGHUP')
    .option('--kube-api <url>', "API server of the cluster (default: a pod's own)", httpAddress)
    .option('--kube-namespace <name>', "namespace of the models (default: the pod's own)", dnsLabel)
    .option('--kube-token-file <file>', "token of an account (default: the pod's own)")
    .option('--kube-ca-file <file>', "certificate of the API server (default: the pod's own)")
    .option(
      '--kube-address <template>',
      'address of a Service (default: http://{service}.{namespace}.svc:{port})',
    )
    .addHelpText('after', NOTES)
    .action(serve);
}

interface ListenFlags {
  port: number;
  host: string;
  metrics?: { port: number; host: string };
}

async function serve(flags: ServeFlags & ListenFlags): Promise<void> {
  const calls: Place = { port: flags.port, host: flags.host, flag: '--port' };
  const metrics: Place | undefined = flags.metrics && { ...flags.metrics, flag: '--metrics' };
  const environment = readEnvironment();
  const logger = createLogger(environment.logFormat, environment.logLevel, 'stderr');
  for (const place of [calls, metrics]) if (place) await tryPlace(place);
  const gateway = await composeGateway(flags, environment, logger);
  const server = createHttpServer(createApp(gateway.app));
  await listen(server, calls);
  const admin = createHttpServer(adminApp(gateway.metrics));
  if (metrics) await listen(admin, metrics);
  const { port: taken } = server.address() as AddressInfo;
  const host = flags.host.includes(':') ? `[${flags.host}]` : flags.host;
  process.stdout.write(`http://${host}:${taken}${BASE}\n`);
  await stopOnSignals(server, logger);
  await gateway.close();
  admin.close();
  admin.closeAllConnections();
}
