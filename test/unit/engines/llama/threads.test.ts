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

test('all threads where fewer are slower, which is found by one trial', async () => {
  const context = timedContext({ 1: 40, 2: 20, 4: 5 });
  expect(await measuredThreads(context, 4)).toBe(4);
  expect(context.cut).toEqual([0, 0]);
});

test('half of them where others use the cores', async () => {
  expect(await measuredThreads(timedContext({ 1: 30, 2: 5, 4: 30 }), 4)).toBe(2);
});

test('one where all are slower', async () => {
  const context = timedContext({ 1: 5, 2: 15, 5: 40 });
  expect(await measuredThreads(context, 5)).toBe(1);
  expect(context.cut).toEqual([0, 0, 0]);
});
