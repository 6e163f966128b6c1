import { createRowPool } from '../../../../runtime/engines/llama/rows.js';

const never = new AbortController().signal;

test('ids are somebody’s, or free', () => {
  const pool = createRowPool(3);
  const held = pool.reserve(2);
  const ids = [held.take(), held.take()];
  expect(new Set(ids).size).toBe(2);
  expect(pool.free).toBe(1);
  for (const id of ids) held.give(id);
  held.release();
  expect(pool.free).toBe(3);
});

test('more than are free now is refused with 503, more than there are with 422', () => {
  const pool = createRowPool(2);
  pool.reserve(1);
  expect(() => pool.reserve(2)).toThrow(expect.objectContaining({ code: 'overloaded' }));
  expect(() => pool.reserve(3)).toThrow(expect.objectContaining({ code: 'unprocessable' }));
});

test('those who wait are served in their order', async () => {
  const pool = createRowPool(2);
  const first = pool.reserve(2);
  const order: string[] = [];
  const wide = pool.reserveInTurn(2, never).then((held) => (order.push('wide'), held));
  const narrow = pool.reserveInTurn(1, never).then((held) => (order.push('narrow'), held));
  expect(pool.waiting).toBe(2);
  first.release();
  (await wide).release();
  (await narrow).release();
  expect(order).toEqual(['wide', 'narrow']);
  expect(pool.free).toBe(2);
});

test('who leaves the queue makes room for others', async () => {
  const pool = createRowPool(2);
  const first = pool.reserve(1);
  const gone = new AbortController();
  const wide = pool.reserveInTurn(2, gone.signal);
  const narrow = pool.reserveInTurn(1, never);
  gone.abort(new Error('left'));
  await expect(wide).rejects.toThrow('left');
  (await narrow).release();
  first.release();
  expect(pool.free).toBe(2);
});

test('a ceded row comes back by itself', () => {
  const pool = createRowPool(2);
  const held = pool.reserve(2);
  const [kept, other] = [held.take(), held.take()];
  held.give(other);
  held.cede(kept);
  held.release();
  expect(pool.free).toBe(1);
  pool.takeBack(kept);
  expect(pool.free).toBe(2);
});
