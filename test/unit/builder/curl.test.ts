import { TASK_IDS } from '../../../runtime/core/task-ids.js';
import { execFileSync } from 'node:child_process';
import { curlLines } from '../../../builder/curl.js';
import { readBody } from '../../../runtime/tasks/body.js';
import { taskOf } from '../../../runtime/tasks/registry.js';

/** What a shell hands to curl. */
function argumentsOf(line: string, env: Record<string, string> = {}): string[] {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }; ${line}`;
  return execFileSync('sh', ['-c', script], { env, encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe.each(TASK_IDS)('%s', (id) => {
  test('each line is a request that its server takes, without the web', () => {
    for (const line of curlLines(id, 'http://127.0.0.1:1')) {
      const words = argumentsOf(line);
      expect(words).toContain('http://127.0.0.1:1/run');
      const body = JSON.parse(words.at(-1)!) as Record<string, unknown>;
      expect(() => readBody(id, taskOf(id), body)).not.toThrow();
      expect(JSON.stringify(body)).not.toContain('http');
    }
  });
});

test('a server that demands its key gets it from the shell', () => {
  const [line] = curlLines('chat', 'http://x', { requireKey: true });
  expect(line).not.toContain('secret');
  expect(argumentsOf(line!, { KEY: 'secret' })).toContain('authorization: Key secret');
});
