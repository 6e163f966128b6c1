import { join } from 'node:path';
import { readUsage } from '../../gateway/usage/file.js';
import { openJournal } from '../../gateway/usage/journal.js';
import { NO_USAGE } from '../../gateway/usage/row.js';
import { waitFor } from '../fakes/server.js';
import { openSmallDisk } from './small-disk.js';

const disk = openSmallDisk(1);
const can = typeof disk !== 'string';
afterAll(() => void (can && disk.close()));

(can ? test : test.skip)(
  `a full disk costs no usage: it waits and is written once ${can ? '' : `(${disk})`}`,
  async () => {
    const { dir, fill, free } = disk as Exclude<typeof disk, string>;
    const file = join(dir, 'usage.jsonl');
    const lines: string[] = [];
    const journal = await openJournal(file, { log: (line) => lines.push(line), everyMs: 20 });
    const amounts = { ...NO_USAGE, calls: 1, seconds: 1, cost: 1 };
    const add = (model: string) =>
      journal.add({ day: '2026-11-22', key: 'k', model, source: 'gateway', ...amounts });
    add('a/before');
    await waitFor(async () => (await readUsage(file)).size === 1);
    fill();
    for (let i = 0; i < 3000; i++) add(`a/full-${i % 1000}`);
    await waitFor(() => lines.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(lines).toEqual([expect.stringContaining('the disk is full; make room')]);
    free();
    await waitFor(() => lines.length > 1);
    await journal.close();
    const rows = (await readUsage(file)).rows();
    expect(rows).toHaveLength(1001);
    expect(rows.reduce((sum, { calls }) => sum + calls, 0)).toBe(3001);
  },
);
