import { type ChildProcess } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { forkChannel } from '../../../runtime/worker/channel.js';
import { forkEngine } from '../../../runtime/worker/fork-engine.js';

const entry = path.join(mkdtempSync(path.join(tmpdir(), 'channel-')), 'child.mjs');
// Answers with its arguments, and ends.
writeFileSync(
  entry,
  `process.on('message', () => process.send([{ type: 'progress', phase: process.argv.slice(2).join(' ') }], () => process.exit(0)));`,
);

/** What the engine of a channel says, and how it ends. */
function talk(open: ReturnType<typeof forkChannel>): Promise<{ said: string; reason: string }> {
  return new Promise((resolve) => {
    let said = '';
    const channel = open({
      onMessage: (message) => (said = (message as { phase: string }).phase),
      onExit: (reason) => resolve({ said, reason }),
    });
    channel.send({ type: 'cancel', id: 1 });
  });
}

const channelAfter = (first: () => ChildProcess | undefined) =>
  forkChannel({
    entry,
    env: process.env,
    first,
    onOutput: () => {},
    watch: () => ({ cause: () => undefined }),
  });

test('an engine that was started ahead is the first one, and only that', async () => {
  const ahead = forkEngine({ entry, env: process.env, args: ['ahead'] });
  const open = channelAfter(() => ahead);
  expect(await talk(open)).toEqual({ said: 'ahead', reason: 'exited with code 0' });
  expect(await talk(open)).toEqual({ said: '', reason: 'exited with code 0' });
});

test('one is started where none came up ahead', async () => {
  expect(await talk(channelAfter(() => undefined))).toEqual({ said: '', reason: 'exited with code 0' });
});
