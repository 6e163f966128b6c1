import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beyond, measure } from '../../scripts/sizes/measure.mjs';
import { ROOT } from '../fakes/server.js';

test('nothing that is sent or installed has grown beyond its limit, and the table is of today', () => {
  const rows = measure();
  expect(beyond(rows)).toEqual([]);
  const table = readFileSync(join(ROOT, 'docs/package-sizes.md'), 'utf8');
  for (const { what, bytes, limit } of rows) {
    const [, told, most] =
      new RegExp(`^\\| ${what.replaceAll(/[()/]/g, '\\$&')} +\\| +([\\d.]+) \\| +([\\d.]+) \\|$`, 'm').exec(
        table,
      ) ?? [];
    expect({ what, limit: Number(most) * 1000 }).toEqual({ what, limit });
    // Run "make sizes" when a size has changed this much.
    expect({ what, isToday: Math.abs(Number(told) * 1000 - bytes) < bytes / 10 }).toEqual({
      what,
      isToday: true,
    });
  }
}, 60_000);

test('what is beyond its limit is told', () => {
  const rows = [
    { what: 'a', bytes: 70_001, limit: 70_000 },
    { what: 'b', bytes: 70_000, limit: 70_000 },
  ];
  expect(beyond(rows)).toEqual(['a: 70.0 kB, and the limit is 70.0']);
});
