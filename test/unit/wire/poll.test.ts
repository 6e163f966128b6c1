import { poll } from '../../../runtime/wire/poll.js';

const after = (...answers: string[]) => {
  let asked = 0;
  return async () => answers[asked++] ?? 'silence';
};
const isReady = (answer: string) => answer === 'ready';

test('asks until an answer will do, and gives it', async () => {
  const seen: string[] = [];
  const isDone = (answer: string) => seen.push(answer) > 0 && isReady(answer);
  await expect(poll(after('starting', 'loading', 'ready'), isDone, { everyMs: 1 })).resolves.toBe('ready');
  expect(seen).toEqual(['starting', 'loading', 'ready']);
});

test('ends with what the question and the judgement throw', async () => {
  const refused = () => Promise.reject(new Error('refused'));
  await expect(poll(refused, isReady, { everyMs: 1 })).rejects.toThrow('refused');
  const isDone = (answer: string) => {
    if (answer === 'failed') throw new Error('no memory');
    return false;
  };
  await expect(poll(after('loading', 'failed'), isDone, { everyMs: 1 })).rejects.toThrow('no memory');
});

test('ends with the reason of its signal, between two questions and while one is asked', async () => {
  const between = new AbortController();
  const long = { everyMs: 2 ** 30, signal: between.signal };
  const waiting = poll(after('loading'), () => (setImmediate(() => between.abort('stopped')), false), long);
  await expect(waiting).rejects.toBe('stopped');
  const within = new AbortController();
  const ask = async () => (within.abort('stopped'), 'ready');
  await expect(poll(ask, isReady, { everyMs: 1, signal: within.signal })).rejects.toBe('stopped');
});
