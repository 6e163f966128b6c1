/** Small statistics and a repeatable random number generator. */

export const sorted = (values) => values.toSorted((a, b) => a - b);

export function median(values) {
  const order = sorted(values);
  const middle = order.length / 2;
  return order.length % 2 === 1
    ? order[Math.floor(middle)]
    : ((order[middle - 1] ?? NaN) + (order[middle] ?? NaN)) / 2;
}

/** The value that a share of `order` (sorted) does not exceed. */
export const percentile = (order, share) =>
  order[Math.min(order.length - 1, Math.ceil(order.length * share) - 1)] ?? NaN;

export const round = (value, digits = 1) => Number(value.toFixed(digits));

/** Numbers in [0, 1), the same ones in every run (mulberry32). */
export function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

export function cosine(a, b) {
  let [dot, first, second] = [0, 0, 0];
  for (const [i, value] of a.entries()) {
    dot += value * b[i];
    first += value * value;
    second += b[i] * b[i];
  }
  return dot / Math.sqrt(first * second);
}
