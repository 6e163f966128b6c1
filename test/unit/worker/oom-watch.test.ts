import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { forkChannel } from '../../../runtime/worker/channel.js';
import { watchForOom } from '../../../runtime/worker/oom-watch.js';

const GIBI = String(2 ** 30);

describe.each([
  ['version 2', '/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory.max', 'low 0\noom 1\noom_kill '],
  [
    'version 1',
    '/sys/fs/cgroup/memory/memory.oom_control',
    '/sys/fs/cgroup/memory/memory.limit_in_bytes',
    'oom_kill_disable 0\nunder_oom 0\noom_kill ',
  ],
])('cgroup %s', (_, counter, limit, text) => {
  const files = (kills: number) =>
    new Map([
      [counter, `${text}${kills}\n`],
      [limit, GIBI],
    ]);

  test('a kill since the start names the limit', () => {
    let now = files(2);
    const watch = watchForOom((file) => now.get(file));
    expect(watch.cause()).toBeUndefined();
    now = files(3);
    expect(watch.cause()).toMatch(/ended by the kernel: this container may use 1074 MB of memory/);
  });
});

test('no counter, no cause', () => {
  expect(watchForOom(() => undefined).cause()).toBeUndefined();
});

describe('a model process that is killed', () => {
  const entry = path.join(mkdtempSync(path.join(tmpdir(), 'oom-')), 'child.mjs');
  const reasonOf = (code: string, cause: string | undefined) =>
    new Promise((resolve) => {
      writeFileSync(entry, code);
      const watch = () => ({ cause: () => cause });
      forkChannel({ entry, env: process.env, onOutput: () => {}, watch })({
        onMessage: () => {},
        onExit: resolve,
      });
    });
  const KILLED = 'process.kill(process.pid, "SIGKILL")';

  test('by the kernel at the limit says so', async () => {
    expect(await reasonOf(KILLED, 'was ended by the kernel')).toBe('was ended by the kernel');
  });

  test('by anybody else, or otherwise, says that', async () => {
    expect(await reasonOf(KILLED, undefined)).toBe('was ended by SIGKILL');
    expect(await reasonOf('process.exit(3)', 'was ended by the kernel')).toBe('exited with code 3');
  });
});
