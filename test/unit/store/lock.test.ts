import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { acquireLock, LockLost } from '../../../runtime/store/lock.js';
import { folderWith } from './folders.js';

const quick = { heartbeatMs: 40, staleMs: 2000 };
let path: string;

beforeEach(() => {
  path = join(folderWith(), 'lock');
});

/** A lock file as a process left it so many milliseconds ago. */
function left(holder: { pid: number; host: string; ino?: number }, msAgo: number): void {
  writeFileSync(path, '');
  writeFileSync(path, JSON.stringify({ token: 'theirs', ino: statSync(path).ino, ...holder }));
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

test('the process id says nothing while the file is touched: another container may share the host name', async () => {
  left({ pid: await deadPid(), host: hostname() }, 0);
  const alive = setInterval(() => utimesSync(path, new Date(), new Date()), 20);
  expect(await isFree(500)).toBe(false);
  clearInterval(alive);
});

test.each([
  ['an hour behind', 3_600_000],
  ['an hour ahead', -3_600_000],
])('a holder whose clock is %s keeps its lock while it shows signs of life', async (_, msAgo) => {
  let beats = 0;
  const beat = () => left({ pid: 1, host: 'elsewhere' }, msAgo - beats++);
  beat();
  const alive = setInterval(beat, 20);
  expect(await isFree(500)).toBe(false);
  clearInterval(alive);
});

test('a dead holder whose clock was ahead loses its lock when it was seen unchanged for long', async () => {
  left({ pid: 1, host: 'elsewhere' }, -3_600_000);
  expect(await isFree(1000)).toBe(false);
  expect(await isFree(5000)).toBe(true);
});

test.each([
  ['a copy of a lock, as a committed image holds it', () => left({ pid: 1, host: 'elsewhere', ino: 1 }, 0)],
  ['a lock of who was killed before it could write', () => writeFileSync(path, '')],
])('%s holds nobody back for long', async (_, leave) => {
  leave();
  expect(await isFree(1000)).toBe(true);
});

test('who stood still and lost the lock is told before it does more', async () => {
  const lock = await acquireLock(path, { heartbeatMs: 10_000, staleMs: 20_000 });
  await lock.confirm();
  left({ pid: 1, host: 'elsewhere' }, 0);
  const wall = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 40_000);
  await expect(lock.confirm()).rejects.toThrow(LockLost);
  wall.mockRestore();
  await lock.release();
  expect(readFileSync(path, 'utf8')).toContain('theirs');
});

test('who stood still and still has the lock goes on', async () => {
  const lock = await acquireLock(path, { heartbeatMs: 10_000, staleMs: 20_000 });
  const wall = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 40_000);
  await lock.confirm();
  wall.mockRestore();
  await lock.release();
  expect(existsSync(path)).toBe(false);
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
