import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readText, type ReadProgress } from '../../../../runtime/core/read-progress.js';
import { readAhead, type ReadAheadOptions } from '../../../../runtime/engines/llama/read-ahead.js';

async function twoParts(): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'slipway-read-'));
  const files = ['a.gguf', 'b.gguf'].map((name) => path.join(folder, name));
  await writeFile(files[0]!, Buffer.alloc(1000));
  await writeFile(files[1]!, Buffer.alloc(500));
  return files;
}

async function told(files: string[], changes: Partial<ReadAheadOptions> = {}): Promise<ReadProgress[]> {
  const seen: ReadProgress[] = [];
  const signal = new AbortController().signal;
  const tell = (progress: ReadProgress) => void seen.push(progress);
  await readAhead(files, { room: 1500, tell, signal, smallest: 1, tellMs: 0, ...changes });
  return seen;
}

test('all parts are read, and how far is told', async () => {
  const seen = await told(await twoParts());
  expect(seen.map(({ doneBytes, totalBytes }) => [doneBytes, totalBytes])).toEqual([
    [1000, 1500],
    [1500, 1500],
  ]);
  expect(seen[1]!.seconds).toBeGreaterThan(0);
});

test('files that memory can’t hold, and small ones, are left to llama.cpp', async () => {
  const files = await twoParts();
  expect(await told(files, { room: 1499 })).toEqual([]);
  expect(await told(files, { smallest: 1501 })).toEqual([]);
});

test('an abort and a file that has gone end it without an error', async () => {
  const files = await twoParts();
  expect(await told(files, { signal: AbortSignal.abort() })).toEqual([]);
  expect(await told([...files, `${files[0]!}-missing`])).toEqual([]);
});

test('the log says how much, how fast and how long', () => {
  const text = readText({ doneBytes: 12.34e9, totalBytes: 42e9, seconds: 60 });
  expect(text).toBe('read 12.3 of 42.0 GB of the model, 206 MB/s, 2 min 25 s left');
  expect(readText({ doneBytes: 3e9, totalBytes: 4e9, seconds: 3 })).toMatch(/1000 MB\/s, 1 s left$/);
});
