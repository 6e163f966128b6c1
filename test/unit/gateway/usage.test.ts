import { appendFile, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readUsage } from '../../../gateway/usage/file.js';
import { openJournal } from '../../../gateway/usage/journal.js';
import type { UsageRow } from '../../../gateway/usage/row.js';
import { waitFor } from '../../fakes/server.js';

const place = async () => path.join(await mkdtemp(path.join(tmpdir(), 'slipway-usage-')), 'usage.jsonl');
const row = (more: Partial<UsageRow> = {}): UsageRow => ({
  ...{ day: '2026-11-22', key: 'k1', model: 'a/b', source: 'gateway' },
  ...{ calls: 1, errors: 0, coldStarts: 0, seconds: 0.5, cost: 0.25, tokensIn: 7, tokensOut: 3 },
  ...more,
});
const lines: string[] = [];
const log = (line: string) => void lines.push(line);
beforeEach(() => void lines.splice(0));

test('adds up by day, key, model and source; what a killed process has cut off does not count', async () => {
  const file = await place();
  const journal = await openJournal(file, { log });
  for (const more of [
    {},
    {},
    { errors: 1 },
    { key: 'k2' },
    { day: '2026-11-23' },
    { source: 'container' as const },
  ])
    journal.add(row(more));
  await journal.close();
  await appendFile(file, JSON.stringify(row({ calls: 100 })).slice(0, -5));
  const again = await openJournal(file, { log });
  again.add(row({ model: 'a/c' }));
  await again.close();
  const rows = (await readUsage(file)).rows();
  expect(rows).toHaveLength(5);
  expect(rows[0]).toEqual(row({ calls: 3, errors: 1, seconds: 1.5, cost: 0.75, tokensIn: 21, tokensOut: 9 }));
  expect(lines).toEqual([]);
});

test('is on the disk within the time that it says, without an orderly end', async () => {
  const file = await place();
  const journal = await openJournal(file, { log, everyMs: 20 });
  journal.add(row());
  await waitFor(async () => (await readUsage(file)).size === 1);
  await journal.close();
});

test('sums itself up when it has grown', async () => {
  const file = await place();
  const journal = await openJournal(file, { log, everyMs: 5, growth: 2000 });
  let size = 0;
  for (let i = 1; i <= 40; i++) {
    journal.add(row());
    await waitFor(async () => (await readUsage(file)).rows()[0]?.calls === i);
    size = Math.max(size, (await readFile(file)).length);
  }
  await journal.close();
  expect((await readUsage(file)).rows()).toEqual([
    row({ calls: 40, seconds: 20, cost: 10, tokensIn: 280, tokensOut: 120 }),
  ]);
  expect(size).toBeLessThan(2400);
});

test('another gateway’s file is refused; one that was taken away is not written, and nothing is forgotten', async () => {
  const file = await place();
  const journal = await openJournal(file, { log, everyMs: 20 });
  const holder = JSON.parse(await readFile(`${file}.lock`, 'utf8')) as object;
  await writeFile(`${file}.lock`, JSON.stringify({ ...holder, token: 'another' }));
  // The next beat of the lock sees it.
  await new Promise((resolve) => setTimeout(resolve, 700));
  journal.add(row());
  await waitFor(() => lines.length > 0);
  expect(lines).toEqual([expect.stringMatching(/waits in memory.*another process/)]);
  expect((await readUsage(file)).size).toBe(0);
  await journal.close();
});

test('lines of another kind and fields that nobody knows are no usage', async () => {
  const file = await place();
  const wrong = [
    { ...row(), calls: -1 },
    { ...row(), day: 'yesterday' },
    { ...row(), __proto__x: 1 },
    3,
    null,
  ];
  await writeFile(file, wrong.map((line) => `${JSON.stringify(line)}\n`).join(''));
  expect((await readUsage(file)).size).toBe(0);
});

test('rows from before tokens were counted have none, and add up with those that have', async () => {
  const file = await place();
  const { tokensIn: _in, tokensOut: _out, ...old } = row();
  await writeFile(file, `${JSON.stringify(old)}\n`);
  const journal = await openJournal(file, { log });
  journal.add(row());
  await journal.close();
  expect((await readUsage(file)).rows()).toEqual([row({ calls: 2, seconds: 1, cost: 0.5 })]);
});
