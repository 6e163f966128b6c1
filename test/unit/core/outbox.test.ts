import { setImmediate as turn } from 'node:timers/promises';
import { createOutbox, recordLater } from '../../../runtime/core/outbox.js';

test('what is said within one turn goes together, in order, and once', async () => {
  const sent: number[][] = [];
  const outbox = createOutbox<number>((messages) => void sent.push(messages));
  outbox.put(1);
  await Promise.resolve();
  outbox.put(2);
  expect(sent).toEqual([]);
  await turn();
  outbox.put(3);
  await turn();
  await turn();
  expect(sent).toEqual([[1, 2], [3]]);
});

test('flush sends at once, and nothing twice', async () => {
  const sent: number[][] = [];
  const outbox = createOutbox<number>((messages) => void sent.push(messages));
  outbox.put(1);
  outbox.flush();
  outbox.flush();
  await turn();
  expect(sent).toEqual([[1]]);
});

test('what is said while sending goes with the next', async () => {
  const sent: number[][] = [];
  const outbox = createOutbox<number>((messages) => {
    sent.push(messages);
    if (sent.length === 1) outbox.put(2);
  });
  outbox.put(1);
  await turn();
  await turn();
  expect(sent).toEqual([[1], [2]]);
});

test('records are made one by one, after the turn in which they were told, or when flushed', async () => {
  const recorded: number[] = [];
  const records = recordLater<number>((message) => void recorded.push(message));
  records.put(1);
  records.put(2);
  expect(recorded).toEqual([]);
  await turn();
  expect(recorded).toEqual([1, 2]);
  records.put(3);
  records.flush();
  expect(recorded).toEqual([1, 2, 3]);
});
