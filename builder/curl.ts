import type { TaskId } from '../runtime/core/task-ids.js';
import { runnableExample } from '../runtime/tasks/example.js';
import { taskOf } from '../runtime/tasks/registry.js';

export interface CurlOptions {
  /** The server demands its key: taken from the shell's variable, so that it is not shown. */
  requireKey?: boolean;
}

/** Lines to paste into a shell that call `/run` of a server with the task's example; a streaming one where there is. */
export function curlLines(id: TaskId, address: string, { requireKey = false }: CurlOptions = {}): string[] {
  const task = taskOf(id);
  const example = runnableExample(task);
  const key = requireKey ? ' -H "authorization: Key $KEY"' : '';
  const line = (flags: string, body: object) =>
    `curl ${flags} ${address}/run -H 'content-type: application/json'${key} -d ${shellQuote(JSON.stringify(body))}`;
  return [line('-s', example), ...(task.streams ? [line('-sN', { ...example, stream: true })] : [])];
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
