import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Command } from 'commander';
import { curlLines } from '../curl.js';
import { type CommandDeps, reportOf } from '../deps.js';
import type { ContainerOptions, RunningContainer } from '../docker/docker.js';
import { BuilderError } from '../exit.js';
import { onePlatform } from '../images/platforms.js';
import { downloadDir } from '../../runtime/store/paths.js';
import {
  addBakeOption,
  addImageOptions,
  addOutputOptions,
  addPackingOptions,
  addSourceOptions,
  type ImageChoice,
  type ImageFlags,
  parseModelId,
  type OutputFlags,
  parsePort,
  type SourceFlags,
} from '../options.js';
import { fetchWeights } from '../fetch-weights.js';
import { buildImage, prepareModel, type PreparedModel } from '../pipeline.js';
import type { Report } from '../report.js';
import { interruptible } from '../interrupt.js';
import { waitForHealth } from '../wait-for-health.js';

interface ContainerFlags {
  port: number;
  address: string;
  keyFile?: string;
  detach?: boolean;
  dryRun?: boolean;
}

type RunFlags = SourceFlags & ImageFlags & OutputFlags & ContainerFlags;
type RunChoice = SourceFlags & ImageChoice & OutputFlags & ContainerFlags;

/** Time for the requests that a server has. */
export const STOP_GRACE_SECONDS = 40;
const KEY_FILE_INSIDE = '/run/slipway-key';

const NOTES = `
KEY is taken from the environment, else generated and printed. "docker inspect" shows it; --key-file avoids that.
Weights that are not in the image come from the builder's cache, mounted read-only, so the container needs neither the hub
nor HF_TOKEN.

Examples:
  builder run distilbert/distilbert-base-uncased-finetuned-sst-2-english
  KEY=secret builder run org/model --port 9000 --detach`;

/** `builder run`: builds the image, fetches weights, starts a container; prints the address when ready. Ctrl-C stops it. */
export function runCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('run')
    .description('Build the image if needed and run it')
    .argument('<model>', 'id on the hub', parseModelId)
    .option('--port <port>', 'port on this machine; 0 chooses a free one', parsePort, 8080)
    .option('--address <ip>', 'address of this machine to listen on', '127.0.0.1')
    .option('--key-file <file>', 'file that holds the KEY', (text) => path.resolve(text))
    .option('--detach', 'leave the container running and return')
    .option('--dry-run', 'print what would be done; change nothing')
    .addHelpText('after', NOTES);
  addOutputOptions(addBakeOption(addImageOptions(addPackingOptions(addSourceOptions(command))))).action(
    (id: string, flags: RunChoice) => runModel(id, onePlatform(flags), deps),
  );
}

async function runModel(id: string, flags: RunFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const prepared = await prepareModel({ id, flags, report }, deps);
  const { plan, model } = prepared;
  if (flags.dryRun) {
    const document = {
      image: plan.image.references[0],
      runtime: plan.runtime,
      port: flags.port,
      spec: plan.spec,
    };
    return report.result(`docker run ${document.image}, port ${flags.port}`, document);
  }
  const { image } = await buildImage(prepared, { id, flags, report }, deps);
  const weights = plan.baked ? undefined : await fetchWeights({ id, flags, report, model }, deps);
  const options = containerOptions({ image, weights, prepared, flags, key: keyOf(flags, deps, report.note) });
  const onOutput = flags.detach || flags.quiet ? undefined : (text: string) => void deps.stderr.write(text);
  const container = await deps.docker.startContainer({ ...options, onOutput });
  const followOptions = { prepared, flags, report };
  if (flags.detach) return follow(container, followOptions);
  const stop = () => {
    report.note('stops the container');
    return container.stop(STOP_GRACE_SECONDS);
  };
  await interruptible({ stop }, () => follow(container, followOptions));
}

interface ContainerInput {
  image: string;
  /** Folder of the weights on this machine, unless they are in the image. */
  weights: string | undefined;
  prepared: PreparedModel;
  flags: ContainerFlags;
  key: Record<string, string>;
}

/** The flags of `docker run`, as data. */
export function containerOptions({ image, weights, prepared, flags, key }: ContainerInput): ContainerOptions {
  const { spec, device } = prepared.plan;
  return {
    image,
    env: key,
    hostPort: flags.port,
    hostAddress: flags.address,
    mounts: {
      // Only this model and read-only; otherwise the server would change the owner of the cache.
      ...(weights === undefined ? {} : { [weights]: downloadDir('/server/model', spec) }),
      ...(flags.keyFile === undefined ? {} : { [flags.keyFile]: KEY_FILE_INSIDE }),
    },
    device,
    autoRemove: !flags.detach,
  };
}

function keyOf(
  flags: ContainerFlags,
  { config }: CommandDeps,
  note: (text: string) => void,
): Record<string, string> {
  if (flags.keyFile !== undefined) return { KEY_FILE: KEY_FILE_INSIDE };
  if (config.key !== undefined) return { KEY: config.key };
  const key = randomBytes(12).toString('hex');
  note(`KEY is not set: this container gets KEY=${key}`);
  return { KEY: key };
}

interface FollowOptions {
  prepared: PreparedModel;
  flags: RunFlags;
  report: Report;
}

async function follow(
  container: RunningContainer,
  { prepared, flags, report }: FollowOptions,
): Promise<void> {
  const ended = container.wait();
  const address = `http://${flags.address === '0.0.0.0' ? '127.0.0.1' : flags.address}:${container.port}`;
  const waiting = new AbortController();
  const ready = waitForHealth(address, { signal: waiting.signal, onWaiting: report.note });
  const outcome = await Promise.race([ready, ended]);
  waiting.abort();
  if (typeof outcome === 'number') return requireSuccess(outcome);
  const { spec, image } = prepared.plan;
  const document = {
    address,
    container: container.id,
    image: image.references[0],
    model: spec.id,
    task: spec.task,
  };
  report.result([address, ...curlLines(spec.task, address)].join('\n'), document);
  if (flags.detach) container.release();
  else requireSuccess(await ended);
}

/** @throws BuilderError unless the container ended with status 0 */
function requireSuccess(status: number): void {
  if (status !== 0)
    throw new BuilderError('failure', `the container ended with status ${status}; see its output`);
}
