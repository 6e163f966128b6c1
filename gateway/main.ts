#!/usr/bin/env node
import { Command } from 'commander';
import { keysCommand } from './commands/keys.js';
import { serveCommand } from './commands/serve.js';
import { tasksCommand } from './commands/tasks.js';
import { usageCommand } from './commands/usage.js';
import { GatewayError } from './errors.js';

const EXAMPLES = `
Examples:
  gateway serve --catalog models.yaml --keys keys.json
  gateway keys create --keys keys.json --name "the shop"
  gateway tasks --json`;

const program = new Command('gateway')
  .description('The hosted interface: many models behind one address')
  .addHelpText('after', EXAMPLES)
  .showHelpAfterError('(--help lists what there is)');
for (const register of [serveCommand, keysCommand, usageCommand, tasksCommand]) register(program);

try {
  await program.parseAsync();
} catch (error) {
  const ours = error instanceof GatewayError;
  process.stderr.write(`gateway: ${ours ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = ours ? 2 : 1;
}
