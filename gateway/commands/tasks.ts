import type { Command } from 'commander';
import { TASK_IDS } from '../../runtime/core/task-ids.js';
import { SUPPORTED_TASKS, TASKS } from '../../runtime/tasks/registry.js';

/** `gateway tasks`: the tasks of the interface, one per line. */
export function tasksCommand(program: Command): void {
  program
    .command('tasks')
    .description('List all tasks, and which of them are served')
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
}
