import { Command, CommanderError } from 'commander';
import { RunError } from '../runtime/core/errors.js';
import { StoreError } from '../runtime/store/errors.js';
import { benchCommand } from './commands/bench.js';
import { buildCommand } from './commands/build.js';
import { completionCommand } from './commands/completion.js';
import { doctorCommand } from './commands/doctor.js';
import { exportCommand } from './commands/export.js';
import { fetchCommand } from './commands/fetch.js';
import { keygenCommand } from './commands/keygen.js';
import { logsCommand, stopCommand } from './commands/lifecycle.js';
import { listCommand } from './commands/list.js';
import { loadCommand } from './commands/load.js';
import { manifestCommand } from './commands/manifest.js';
import { namesCommand } from './commands/names.js';
import { planCommand } from './commands/plan.js';
import { pruneCommand } from './commands/prune.js';
import { rmCommand } from './commands/rm.js';
import { runCommand } from './commands/run.js';
import { serveCommand } from './commands/serve.js';
import { snapshotCommand } from './commands/snapshot.js';
import { testCommand } from './commands/test.js';
import { verifyCommand } from './commands/verify.js';
import type { CommandDeps } from './deps.js';
import { messageOf } from './error-message.js';
import { BuilderError, EXIT, EXIT_HELP } from './exit.js';

/** In the order of --help. */
const COMMANDS = [
  planCommand,
  fetchCommand,
  buildCommand,
  snapshotCommand,
  serveCommand,
  runCommand,
  logsCommand,
  stopCommand,
  listCommand,
  rmCommand,
  pruneCommand,
  testCommand,
  benchCommand,
  keygenCommand,
  verifyCommand,
  exportCommand,
  loadCommand,
  manifestCommand,
  doctorCommand,
  completionCommand,
  namesCommand,
];

/** The command line with all commands. Throws instead of ending the process. */
export function createBuilderProgram(deps: CommandDeps): Command {
  const program = new Command('builder')
    .description('Turns a model id of the Hugging Face hub into a container image that answers POST /run')
    .version(deps.version)
    .addHelpText('after', EXIT_HELP)
    .showHelpAfterError('(see --help)')
    .configureOutput({
      writeOut: (text) => void deps.stdout.write(text),
      writeErr: (text) => void deps.stderr.write(text),
    })
    .exitOverride();
  for (const register of COMMANDS) register(program, deps);
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}

/**
 * Runs one command line; messages for the operator go to stderr.
 * @param args without the interpreter and the script
 * @returns the exit code
 */
export async function runCli(args: readonly string[], deps: CommandDeps): Promise<number> {
  try {
    await createBuilderProgram(deps).parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    // Commander has printed the message; help and version are no failure.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    deps.stderr.write(`builder: ${messageOf(error)}\n`);
    return exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof BuilderError) return EXIT[error.exit];
  if (error instanceof StoreError) return STORE_EXIT[error.kind];
  if (error instanceof RunError) return EXIT.refused;
  return EXIT.failure;
}

const STORE_EXIT: Record<StoreError['kind'], number> = {
  not_found: EXIT.network,
  gated: EXIT.network,
  unauthorized: EXIT.network,
  rate_limited: EXIT.network,
  network: EXIT.network,
  corrupt: EXIT.network,
  invalid: EXIT.network,
  no_space: EXIT.failure,
  permission: EXIT.failure,
  storage: EXIT.failure,
};
