import path from 'node:path';
import { type Command, Option } from 'commander';
import { UPSTREAMS } from '../backend.js';
import {
  parseAddress,
  parseCount,
  parseDnsLabel,
  parseDuration,
  parseGatewayName,
  parseGigabytes,
  parseHttpAddress,
  parsePort,
  parseRate,
} from '../options.js';
import { PACKAGE } from '../package.js';

const PRICES = path.join(PACKAGE, 'gateway/prices.json');

/** The options of `gateway serve`, by what they are about. */
export function addServeOptions(command: Command): void {
  for (const add of [addListening, addModels, addDocker, addPool, addCallers, addRecords, addCluster])
    add(command);
}

function addListening(command: Command): void {
  command
    .optionsGroup('Where it listens:')
    .option('--port <port>', 'port of this machine', parsePort, 8080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--metrics <[host:]port>',
      'Prometheus metrics for operators, on 127.0.0.1 without a host',
      parseAddress,
    );
}

function addModels(command: Command): void {
  command
    .optionsGroup('Models:')
    .addOption(new Option('--upstream <kind>', 'where models answer').choices(UPSTREAMS))
    .option('--catalog <file>', 'the models');
}

function addDocker(command: Command): void {
  command
    .optionsGroup('Containers, with docker:')
    .option('--name <name>', 'of this gateway, among others on the same engine', parseGatewayName, 'default')
    .option('--namespace <name>', 'serve images of this "builder build --namespace" only')
    .option('--offline', 'containers reach nothing outside: for images that hold their weights');
}

interface Parsed {
  parse: (text: string) => unknown;
  standard: string;
}

/** An option whose default is shown as it would be given. */
function parsed(flags: string, about: string, { parse, standard }: Parsed): Option {
  return new Option(flags, about).argParser(parse).default(parse(standard), standard);
}

function addPool(command: Command): void {
  command
    .optionsGroup('Servers of models, with docker and process:')
    .addOption(
      parsed('--memory <amount>', 'for all running models together', {
        parse: parseGigabytes,
        standard: '8GB',
      }),
    )
    .addOption(
      parsed('--idle <time>', 'stop a server that nobody has asked for so long', {
        parse: parseDuration,
        standard: '5m',
      }),
    )
    .option('--replicas <servers>', 'most servers of one model, where memory allows', parseCount, 2)
    .option('--busy-at <calls>', 'calls at a time from which on a server is busy', parseCount, 16)
    .option(
      '--queue <callers>',
      'callers that may wait for models to start, with kubernetes, too',
      parseCount,
      256,
    );
}

function addCallers(command: Command): void {
  command
    .optionsGroup('Callers:')
    .option('--keys <file>', 'the keys of "gateway keys"; without it one is made for this run and shown')
    .addOption(parsed('--rate <calls/time>', 'of each key', { parse: parseRate, standard: '600/60s' }))
    .option('--concurrent <calls>', 'of each key, under way at the same time', parseCount)
    .addOption(
      parsed('--call-timeout <time>', 'longest time of one call at its model, streams included', {
        parse: parseDuration,
        standard: '16m',
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
    .optionsGroup('What is kept:')
    .option('--usage <file>', 'what keys use of models, for "gateway usage"')
    .option('--audit <file>', 'who was refused and what was started; reopened on SIGHUP');
}

function addCluster(command: Command): void {
  command
    .optionsGroup('Cluster, with kubernetes:')
    .option('--kube-api <url>', "API server of the cluster (default: a pod's own)", parseHttpAddress)
    .option('--kube-namespace <name>', "namespace of the models (default: the pod's own)", parseDnsLabel)
    .option('--kube-token-file <file>', "token of an account (default: the pod's own)")
    .option('--kube-ca-file <file>', "certificate of the API server (default: the pod's own)")
    .option(
      '--kube-address <template>',
      'address of a Service (default: http://{service}.{namespace}.svc:{port})',
    );
}
