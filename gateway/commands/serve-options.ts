import path from 'node:path';
import { type Command, Option } from 'commander';
import { UPSTREAMS } from '../backend.js';
import {
  parseAddress,
  parseAllowedOrigins,
  parseCount,
  parseWhole,
  parseDnsLabel,
  parseDuration,
  parseGatewayName,
  parseGigabytes,
  parseHttpAddress,
  parsePort,
  parsePublicAddress,
  parseRate,
} from '../options.js';
import { PACKAGE } from '../package.js';

const PRICES = path.join(PACKAGE, 'gateway/prices.json');

/** The options of `gateway serve`, by subject. */
export function addServeOptions(command: Command): void {
  for (const add of [addListening, addModels, addDocker, addPool, addCallers, addRecords, addCluster])
    add(command);
}

function addListening(command: Command): void {
  command
    .optionsGroup('Where it listens:')
    .option('--port <port>', 'port to listen on', parsePort, 8080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--allow-origins <origins>',
      'pages that may call from a browser: origins, separated by commas, or * for all',
      parseAllowedOrigins,
    )
    .option(
      '--public-url <url>',
      'address by which people reach it, such as that of a proxy; for links of the console to pages of models',
      parsePublicAddress,
    )
    .option('--no-playground', 'no pages for people at the addresses of models')
    .addOption(
      parsedOption('--grace <time>', 'longest time for the calls under way after SIGTERM', {
        parse: parseDuration,
        defaultText: '50s',
      }),
    )
    .option(
      '--metrics <[host:]port>',
      'Prometheus metrics for operators, on 127.0.0.1 without a host',
      parseAddress,
    )
    .option(
      '--console <[host:]port>',
      'page for operators (docs/operations/console.md), on 127.0.0.1 without a host',
      parseAddress,
    )
    .option(
      '--console-key-file <file>',
      'file with the key of the console; on a loopback address a key is made for this run and printed without it',
    );
}

function addModels(command: Command): void {
  command
    .optionsGroup('Models:')
    .addOption(new Option('--upstream <kind>', 'where models answer').choices(UPSTREAMS))
    .option('--catalog <file>', 'file with the models');
}

function addDocker(command: Command): void {
  command
    .optionsGroup('Containers, with docker:')
    .option('--name <name>', 'name of this gateway; several may share an engine', parseGatewayName, 'default')
    .option('--namespace <name>', 'serve only images of this "builder build --namespace"')
    .option('--offline', 'containers have no access to other networks; their images must hold the weights')
    .option(
      '--standby <containers>',
      'most containers that are started ahead up to their program, for models that do not run; 0 for none',
      parseWhole,
      4,
    );
}

interface ParsedOption {
  parse: (text: string) => unknown;
  defaultText: string;
}

/** An option whose default is shown as the user would write it. */
function parsedOption(flags: string, about: string, { parse, defaultText }: ParsedOption): Option {
  return new Option(flags, about).argParser(parse).default(parse(defaultText), defaultText);
}

function addPool(command: Command): void {
  command
    .optionsGroup('Servers of models, with docker and process:')
    .addOption(
      parsedOption('--memory <amount>', 'for all running models together', {
        parse: parseGigabytes,
        defaultText: '8GB',
      }),
    )
    .addOption(
      parsedOption('--idle <time>', 'stop a server that has had no calls for this long', {
        parse: parseDuration,
        defaultText: '5m',
      }),
    )
    .option('--replicas <servers>', 'most servers per model, if memory allows', parseCount, 2)
    .option('--busy-at <calls>', 'concurrent calls from which a server counts as busy', parseCount, 16)
    .option(
      '--queue <callers>',
      'most callers waiting for models to start; also with kubernetes',
      parseCount,
      256,
    );
}

function addCallers(command: Command): void {
  command
    .optionsGroup('Callers:')
    .option('--keys <file>', 'file of "gateway keys"; without it, a key is made for this run and printed')
    .addOption(
      parsedOption('--rate <calls/time>', 'limit of each key', { parse: parseRate, defaultText: '600/60s' }),
    )
    .option('--concurrent <calls>', 'concurrent calls of each key', parseCount)
    .addOption(
      parsedOption('--call-timeout <time>', 'longest time of a call at its model, streams included', {
        parse: parseDuration,
        defaultText: '16m',
      }),
    )
    .addOption(
      new Option('--prices <file>', 'tiers and prices').default(
        PRICES,
        'gateway/prices.json of this program',
      ),
    );
}

function addRecords(command: Command): void {
  command
    .optionsGroup('Records:')
    .option('--usage <file>', 'file to record usage in, which "gateway usage" reads')
    .option('--audit <file>', 'audit log of refused calls, servers and keys; reopened on SIGHUP');
}

function addCluster(command: Command): void {
  command
    .optionsGroup('Cluster, with kubernetes:')
    .option('--kube-api <url>', "address of the API server (default: the pod's own)", parseHttpAddress)
    .option('--kube-namespace <name>', "namespace of the models (default: the pod's own)", parseDnsLabel)
    .option('--kube-token-file <file>', "token of a service account (default: the pod's own)")
    .option('--kube-ca-file <file>', "certificate of the API server (default: the pod's own)")
    .option(
      '--kube-address <template>',
      'address of a Service (default: http://{service}.{namespace}.svc:{port})',
    );
}
