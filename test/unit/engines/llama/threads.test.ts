import { measuredThreads } from '../../../../runtime/engines/llama/threads.js';

/** A context whose steps take so many milliseconds by their threads. */
function timedContext(times: Record<number, number>) {
  let threads = 0;
  const cut: number[] = [];
  return {
    cut,
    setThreads: (count: number) => void (threads = count),
    async run() {
      await new Promise((resolve) => setTimeout(resolve, times[threads]));
      return 'done' as const;
    },
    cutRow: (row: number) => (cut.push(row), true),
  };
}

test('one thread is not measured', async () => {
  const context = timedContext({});
  expect(await measuredThreads(context, 1)).toBe(1);
  expect(context.cut).toEqual([]);
});

test('more threads than one where they are quicker', async () => {
  expect(await measuredThreads(timedContext({ 1: 20, 4: 5 }), 4)).toBe(4);
});

test('one where others use the cores', async () => {
  const context = timedContext({ 1: 5, 4: 30 });
  expect(await measuredThreads(context, 4)).toBe(1);
  expect(context.cut).toEqual([0, 0]);
});
