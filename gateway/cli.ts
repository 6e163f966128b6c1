import { Command } from 'commander';
import { completionCommand } from '../builder/commands/completion.js';
import { keysCommand } from './commands/keys.js';
import { serveCommand } from './commands/serve.js';
import { tasksCommand } from './commands/tasks.js';
import { usageCommand } from './commands/usage.js';
import { VERSION } from './package.js';

const EXAMPLES = `
Examples:
  gateway serve --catalog models.yaml --keys keys.json
  gateway keys create --keys keys.json --name "the shop"
  gateway tasks --json`;

/** The command line of the gateway, for the program and for the generated documents. */
export function createGatewayProgram(): Command {
  const program = new Command('gateway')
    .description('The hosted interface: many models behind one address')
    .version(VERSION)
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(see --help)');
  for (const register of [serveCommand, keysCommand, usageCommand, tasksCommand]) register(program);
  completionCommand(program, process);
  return program;
}
