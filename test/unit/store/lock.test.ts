import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { acquireLock } from '../../../runtime/store/lock.js';
import { folderWith } from './folders.js';

const quick = { heartbeatMs: 40, staleMs: 2000 };
let path: string;

beforeEach(() => {
  path = join(folderWith(), 'lock');
});

/** A lock file as a process left it so many milliseconds ago. */
function left(holder: { pid: number; host: string }, msAgo: number): void {
  writeFileSync(path, JSON.stringify({ token: 'theirs', ...holder }));
  const then = new Date(Date.now() - msAgo);
  utimesSync(path, then, then);
}

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return child.pid!;
}

async function isFree(waitMs: number): Promise<boolean> {
  const lock = await acquireLock(path, { ...quick, signal: AbortSignal.timeout(waitMs) }).catch(
    () => undefined,
  );
  await lock?.release();
  return lock !== undefined;
}

test('one at a time, in turn, and gone at the end', async () => {
  let inside = 0;
  let most = 0;
  const work = async () => {
    const lock = await acquireLock(path, quick);
    most = Math.max(most, ++inside);
    await sleep(20);
    inside--;
    await lock.release();
  };
  await Promise.all([work(), work(), work(), work()]);
  expect(most).toBe(1);
  expect(existsSync(path)).toBe(false);
});

test('who waits is told once', async () => {
  const lock = await acquireLock(path, quick);
  let told = 0;
  const second = acquireLock(path, { ...quick, onWait: () => void told++ });
  await sleep(100);
  await lock.release();
  await (await second).release();
  expect(told).toBe(1);
});

test('the holder shows signs of life', async () => {
  const lock = await acquireLock(path, quick);
  const before = statSync(path).mtimeMs;
  await sleep(150);
  expect(statSync(path).mtimeMs).toBeGreaterThan(before);
  await lock.release();
});

test('a dead process on this host loses its lock soon', async () => {
  left({ pid: await deadPid(), host: hostname() }, 500);
  expect(await isFree(1000)).toBe(true);
});

test('the process id says nothing while the file is fresh: another container may share the host name', async () => {
  left({ pid: await deadPid(), host: hostname() }, -10_000);
  expect(await isFree(300)).toBe(false);
});

test('a process on another host keeps its lock until it was silent for long', async () => {
  left({ pid: await deadPid(), host: 'elsewhere' }, 500);
  expect(await isFree(300)).toBe(false);
  left({ pid: process.pid, host: 'elsewhere' }, 60_000);
  expect(await isFree(1000)).toBe(true);
});

test('a living process keeps its lock', async () => {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 20000)']);
  left({ pid: child.pid!, host: hostname() }, 500);
  expect(await isFree(300)).toBe(false);
  child.kill();
});

test('several who find a stale lock do not all take it', async () => {
  left({ pid: 1, host: 'elsewhere' }, 60_000);
  let inside = 0;
  let most = 0;
  const work = async () => {
    const lock = await acquireLock(path, quick);
    most = Math.max(most, ++inside);
    await sleep(10);
    inside--;
    await lock.release();
  };
  await Promise.all(Array.from({ length: 6 }, work));
  expect(most).toBe(1);
});

test('releasing does not remove the lock of a successor', async () => {
  const lock = await acquireLock(path, quick);
  writeFileSync(path, JSON.stringify({ token: 'theirs', pid: 1, host: 'elsewhere' }));
  await lock.release();
  expect(readFileSync(path, 'utf8')).toContain('theirs');
});
