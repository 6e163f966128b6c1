import type { Socket } from 'node:net';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { curlLines } from '../curl.js';
import { type CommandDeps, reportOf } from '../deps.js';
import { BuilderError } from '../exit.js';
import {
  addOutputOptions,
  addPackingOptions,
  addSourceOptions,
  parseModelId,
  type OutputFlags,
  parsePort,
  type SourceFlags,
} from '../options.js';
import { fetchWeights } from '../fetch-weights.js';
import { LOCAL_KEY, localServer, type LocalServer } from '../local-server.js';
import { decideModel } from '../pack/decide-model.js';
import { requireMediaTools } from '../plan/media-tools.js';
import { waitForHealth } from '../wait-for-health.js';

interface ServerFlags {
  port: number;
  address: string;
  device: 'auto' | 'cuda' | 'cpu';
  demo?: boolean;
  untilStdinEnds?: boolean;
}

type ServeFlags = SourceFlags & OutputFlags & ServerFlags;

/** Id and folder (in this package) of the bundled demo model. */
const DEMO = { id: 'slipway/harbour-demo', folder: 'demo/model' };

const NOTES = `
Runs the same server as in images as a process on this machine, without Docker. KEY (default: "${LOCAL_KEY}") and the
server's other settings (REQUIRE_KEY, CONCURRENCY, INLINE, …) are taken from the environment.

Examples:
  builder serve --demo                          a small bundled model, no hub needed
  builder serve org/model --port 9000
  builder serve org/model --from ./exported     a local folder instead of the hub`;

/** `builder serve`: prints the address and curl lines when ready; ends with Ctrl-C. */
export function serveCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('serve')
    .description('Serve a model on this machine, without Docker')
    .argument('[model]', 'id on the hub', parseModelId)
    .option('--demo', 'serve the bundled demo model')
    .option('--port <port>', 'port on this machine', parsePort, 8080)
    .option('--address <ip>', 'address of this machine to listen on', '127.0.0.1')
    .addOption(
      new Option('--device <device>', 'what to compute on').choices(['auto', 'cuda', 'cpu']).default('auto'),
    )
    .addOption(new Option('--until-stdin-ends', 'end when whoever started this has gone').hideHelp())
    .addHelpText('after', NOTES);
  addOutputOptions(addPackingOptions(addSourceOptions(command))).action(
    (id: string | undefined, flags: ServeFlags) => serveModel(id, flags, deps),
  );
}

async function serveModel(given: string | undefined, flags: ServeFlags, deps: CommandDeps): Promise<void> {
  const { id, source } = whichModel(given, flags, deps);
  const report = reportOf(deps, flags);
  const options = { id, flags: { ...flags, ...source }, report };
  const model = await decideModel(options, deps);
  await requireMediaTools(id, model.spec.task);
  const dir = await fetchWeights({ ...options, model }, deps);
  const server = localServer({ settings: flags, flags, spec: model.spec, dir }, deps);
  await attend(server, { flags, deps, task: model.spec.task, id });
}

function whichModel(given: string | undefined, { demo }: ServerFlags, { packageRoot }: CommandDeps) {
  if (demo) return { id: DEMO.id, source: { from: path.join(packageRoot, DEMO.folder) } };
  if (given !== undefined) return { id: given, source: {} };
  throw new BuilderError('usage', 'name a model (org/name), or --demo for the bundled one');
}

interface Attended {
  flags: ServeFlags;
  deps: CommandDeps;
  id: string;
  task: Parameters<typeof curlLines>[0];
}

/** Prints the address when the model is ready, forwards signals, and ends with the server's exit code. */
async function attend(server: LocalServer, { flags, deps, task, id }: Attended): Promise<void> {
  const report = reportOf(deps, flags);
  let stoppedBy: NodeJS.Signals | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stoppedBy = signal;
      server.stop(signal);
    });
  }
  if (flags.untilStdinEnds) {
    process.stdin.resume().once('end', () => server.stop('SIGTERM'));
    // stdin alone must not keep this process alive.
    (process.stdin as Partial<Socket>).unref?.();
  }
  const address = `http://${flags.address === '0.0.0.0' ? '127.0.0.1' : flags.address}:${flags.port}`;
  const giveUp = new AbortController();
  const ready = waitForHealth(address, { signal: giveUp.signal, onWaiting: () => {} }).then(
    () => 'ready' as const,
  );
  const first = await Promise.race([ready, server.ended]);
  giveUp.abort();
  if (first === 'ready') {
    const document = { address, model: id, task };
    const requireKey = /^(1|true)$/.test(deps.config.serverEnvironment['REQUIRE_KEY'] ?? '');
    report.result(
      [
        `${id} answers at ${address} (open it in a browser)`,
        ...curlLines(task, address, { requireKey }),
      ].join('\n'),
      document,
    );
  }
  const code = await server.ended;
  if (stoppedBy !== undefined) return;
  if (code !== 0)
    throw new BuilderError(code === 2 ? 'usage' : 'failure', `the server ended with status ${code}`);
}
