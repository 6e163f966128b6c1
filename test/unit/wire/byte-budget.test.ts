import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { createByteBudget } from '../../../runtime/wire/byte-budget.js';

const response = () => new EventEmitter() as unknown as Response;
const full = { code: 'overloaded', status: 503, retryAfter: 2 };

test('requests share the budget, and give back what they held', () => {
  const budget = createByteBudget(100);
  const [first, second] = [response(), response()];
  budget.open(first)(60);
  const hold = budget.open(second);
  hold(30);
  expect(() => hold(20)).toThrow(expect.objectContaining(full));
  first.emit('close');
  hold(20);
  expect(() => budget.open(response())(60)).toThrow(/50 bytes already \(MAX_PENDING_BYTES\)/);
  second.emit('close');
  budget.open(response())(100);
});

test('one that is alone is let in, however large', () => {
  const hold = createByteBudget(100).open(response());
  hold(150);
  hold(150);
});

test('what was refused is not counted', () => {
  const budget = createByteBudget(100);
  budget.open(response())(60);
  const refused = response();
  expect(() => budget.open(refused)(50)).toThrow();
  refused.emit('close');
  budget.open(response())(40);
});

test('what comes for a response that is over is not held, and says so', () => {
  const budget = createByteBudget(100);
  const given = response();
  const hold = budget.open(given);
  hold(60);
  given.emit('close');
  expect(budget.held).toBe(0);
  expect(() => hold(10)).toThrow(expect.objectContaining({ code: 'cancelled' }));
  const closed = Object.assign(response(), { closed: true }) as Response;
  expect(() => budget.open(closed)(10)).toThrow(expect.objectContaining({ code: 'cancelled' }));
  expect(budget.held).toBe(0);
});

test('what is let go of makes room before the response is over', () => {
  const budget = createByteBudget(100);
  const given = response();
  const hold = budget.open(given);
  hold(80);
  hold(-70);
  budget.open(response())(90);
  expect(budget.held).toBe(100);
  given.emit('close');
  expect(budget.held).toBe(90);
});
