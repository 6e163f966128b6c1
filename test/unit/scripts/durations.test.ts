import { createDurations } from '../../../scripts/testing/durations.mjs';

const file = (name: string, startTime: number, endTime: number) => ({
  name: `/repo/${name}`,
  startTime,
  endTime,
});

test('the table has every suite in order of its end, and the slowest files first', () => {
  const durations = createDurations();
  durations.add('lint', 25_300);
  durations.add('unit', 4000, [file('test/unit/a.test.ts', 0, 1500), file('test/unit/b.test.ts', 0, 3500)]);
  expect(durations.table('/repo/')).toBe(
    [
      'Suites:',
      '   25.3 s  lint',
      '    4.0 s  unit (2 files, 5.0 s in sum)',
      'Slowest files:',
      '    3.5 s  test/unit/b.test.ts (unit)',
      '    1.5 s  test/unit/a.test.ts (unit)',
    ].join('\n'),
  );
});

test('only the slowest files are named, however many there are', () => {
  const durations = createDurations();
  durations.add(
    'unit',
    1000,
    Array.from({ length: 40 }, (_, i) => file(`${i}.test.ts`, 0, i)),
  );
  const lines = durations.table('/repo/').split('\n');
  expect(lines).toHaveLength(3 + 15);
  expect(lines[3]).toContain('39.test.ts');
});
