import type { Command } from 'commander';
import { TASK_IDS } from '../../runtime/core/task-ids.js';
import { TASKS } from '../../runtime/tasks/registry.js';

/** `gateway tasks`: the tasks of the interface, one per line. */
export function tasksCommand(program: Command): void {
  program
    .command('tasks')
    .description('List all tasks')
    .option('--json', 'print a JSON array')
    .action(({ json }: { json?: boolean }) => {
      const rows = TASK_IDS.map((task) => ({ task, title: TASKS[task].title, supported: true }));
      process.stdout.write(`${json ? JSON.stringify(rows) : TASK_IDS.join('\n')}\n`);
    });
}
