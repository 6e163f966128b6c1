import { type Job, runTogether } from '../../../builder/parallel-steps.js';
import { sink } from './support.js';

/** Jobs that end only when all of them have begun. */
function meeting(count: number): Job<string>[] {
  let begun = 0;
  let open!: () => void;
  const all = new Promise<void>((resolve) => (open = resolve));
  return Array.from({ length: count }, (_, i) => ({
    name: `job${i}`,
    run: (report) =>
      report.step('Fetch', async (showDetail) => {
        if (++begun === count) open();
        await all;
        showDetail('half');
        report.note('nearly');
        if (i === 1) throw new Error('lost');
        return `result ${i}`;
      }),
  }));
}

test.each([
  ['a pipe', false],
  ['a terminal', true],
])('on %s jobs run side by side, and one that fails leaves the others alone', async (_, isTTY) => {
  const [out, err] = [sink(), sink()];
  const stderr = Object.assign(err.stream, { isTTY, columns: 80 });
  const found = await runTogether(meeting(3), { json: false, quiet: false, stdout: out.stream, stderr });
  expect(found).toEqual([
    { status: 'fulfilled', value: 'result 0' },
    { status: 'rejected', reason: new Error('lost') },
    { status: 'fulfilled', value: 'result 2' },
  ]);
  expect(out.text()).toBe('');
  for (const i of [0, 1, 2]) {
    expect(err.text()).toContain(`job${i}: Fetch`);
    expect(err.text()).toContain(`job${i}: nearly`);
  }
});

test('quiet says nothing', async () => {
  const [out, err] = [sink(), sink()];
  const options = { json: false, quiet: true, stdout: out.stream, stderr: err.stream };
  expect(await runTogether(meeting(2), options)).toHaveLength(2);
  expect(err.text()).toBe('');
});
