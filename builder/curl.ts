import type { TaskId } from '../runtime/core/task-ids.js';
import { taskOf } from '../runtime/tasks/registry.js';

/** Lines to paste into a shell that call `/run` of a server with the task's example; a streaming one where there is. */
export function curlLines(task: TaskId, address: string): string[] {
  const { example, streams } = taskOf(task);
  const line = (flags: string, body: object) =>
    `curl ${flags} ${address}/run -H 'content-type: application/json' -d ${shellQuote(JSON.stringify(body))}`;
  return [line('-s', example), ...(streams ? [line('-sN', { ...example, stream: true })] : [])];
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
