#!/usr/bin/env node
import { Command } from 'commander';
import { SUPPORTED_TASKS, TASKS } from '../runtime/tasks/registry.js';
import { TASK_IDS } from '../runtime/core/task-ids.js';

/**
 * The hosted interface: many model images behind one address. Serving is an issue of its own and not here yet; until
 * then this program tells what the interface will take, and refuses the rest.
 */
const program = new Command('gateway')
  .description('The hosted interface in front of many model images (serving has not landed yet).')
  .addHelpText(
    'after',
    '\nExamples:\n  gateway tasks          the tasks of the interface, one a line\n  gateway tasks --json',
  );

program
  .command('tasks')
  .description('List the tasks of the interface and which of them model images serve today')
  .option('--json', 'print a JSON array')
  .action(({ json }: { json?: boolean }) => {
    const rows = TASK_IDS.map((task) => ({
      task,
      title: TASKS[task].title,
      supported: SUPPORTED_TASKS.includes(task),
    }));
    const lines = rows.map(({ task, supported }) =>
      `${task.padEnd(32)}${supported ? '' : 'not yet'}`.trimEnd(),
    );
    process.stdout.write(`${json ? JSON.stringify(rows) : lines.join('\n')}\n`);
  });

program
  .command('serve')
  .description('Not available in this version')
  .allowUnknownOption()
  .action(() => {
    process.stderr.write(
      'gateway: serving many models behind one address is not available in this version; run one model with ' +
        '`builder run <id>` or `builder serve <id>`\n',
    );
    process.exitCode = 3;
  });

await program.parseAsync();
