import { type Command, InvalidArgumentError } from 'commander';
import { type CommandDeps, reportOf } from '../deps.js';
import { BuilderError } from '../exit.js';
import { interruptible } from '../interrupt.js';
import { addOutputOptions, type OutputFlags } from '../options.js';
import { chosenContainers, oneContainer } from '../own/choose.js';
import { STOP_GRACE_SECONDS } from './run.js';

/** `builder logs`: what a container has written, to stdout. */
export function logsCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('logs')
    .description('Show the log of a container that builder has started')
    .argument('<container>', 'name or id of the container, its image, or its model')
    .option('--follow', 'go on until the container ends')
    .option('--tail <lines>', 'only the last lines', lines)
    .addHelpText('after', LOGS_NOTES);
  addOutputOptions(command).action((word: string, flags: LogsFlags) => showLogs(word, flags, deps));
}

type LogsFlags = OutputFlags & { follow?: boolean; tail?: number };

const LOGS_NOTES = `
Containers of "builder run --detach" are named slipway-…; "docker ps" shows them. The container of a gateway, or one that
"docker run" has started, is not builder's. With --json, the whole log is one document.

Examples:
  builder logs org/model
  builder logs slipway/org_model:latest --follow --tail 20`;

async function showLogs(word: string, flags: LogsFlags, deps: CommandDeps): Promise<void> {
  if (flags.follow && flags.json)
    throw new BuilderError('usage', '--follow has no end to print a document at: leave out --json');
  const { docker, stdout } = deps;
  const container = await oneContainer(docker, word);
  const stop = new AbortController();
  let text = '';
  const onOutput = (piece: string) => void (flags.json ? (text += piece) : stdout.write(piece));
  const options = { follow: flags.follow ?? false, tail: flags.tail, signal: stop.signal, onOutput };
  await interruptible({ stop: () => stop.abort() }, () => docker.made.logs(container.id, options));
  if (flags.json) reportOf(deps, flags).result('', { container: container.name, log: text });
}

/** `builder stop`: ends containers, with time for the requests that they have. */
export function stopCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('stop')
    .description('Stop containers that builder has started')
    .argument('[containers...]', 'names or ids of containers, their images, or their models')
    .option('--all', 'all of them')
    .option('--dry-run', 'print what would be stopped; change nothing')
    .addHelpText('after', STOP_NOTES);
  addOutputOptions(command).action((words: string[], flags: StopFlags) => stopAll(words, flags, deps));
}

type StopFlags = OutputFlags & { all?: boolean; dryRun?: boolean };

const STOP_NOTES = `
A server has ${STOP_GRACE_SECONDS} seconds for the requests under way. Stopped containers stay, with their logs: "builder rm" takes them away.

Examples:
  builder stop org/model
  builder stop --all`;

async function stopAll(words: readonly string[], flags: StopFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const chosen = await chosenContainers(deps.docker, words, flags);
  const running = chosen.filter(({ state }) => state === 'running');
  if (!flags.dryRun)
    for (const { id, name } of running)
      await report.step(`Stop ${name}`, () => deps.docker.made.stop(id, STOP_GRACE_SECONDS));
  const names = running.map(({ name }) => name);
  report.result(names.length === 0 ? 'none of them runs' : names.join('\n'), {
    stopped: names,
    dryRun: flags.dryRun ?? false,
  });
}

function lines(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a number of lines');
}
