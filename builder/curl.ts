import type { TaskId } from '../runtime/core/task-ids.js';
import { runnableExample } from '../runtime/tasks/example.js';
import { taskOf } from '../runtime/tasks/registry.js';

export interface CurlOptions {
  /** The server requires its key, which the line takes from the shell variable KEY. */
  requireKey?: boolean;
}

/** curl commands that send the task's example to `/run`; for streaming tasks also one that streams. */
export function curlLines(id: TaskId, address: string, { requireKey = false }: CurlOptions = {}): string[] {
  const task = taskOf(id);
  const example = runnableExample(task);
  const key = requireKey ? ' -H "authorization: Key $KEY"' : '';
  const curlLine = (flags: string, body: object) =>
    `curl ${flags} ${address}/run -H 'content-type: application/json'${key} -d ${shellQuote(JSON.stringify(body))}`;
  return [curlLine('-s', example), ...(task.streams ? [curlLine('-sN', { ...example, stream: true })] : [])];
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
