/**
 * Normal numbers as torch fills a tensor with them on a CPU (Tensor.normal_ of 16 numbers or more): mt19937, and the
 * Box-Muller transform over blocks of 16 with the single-precision logarithm, sine and cosine of the Cephes library.
 * Only additions, products and square roots are used, so that each machine and each Node.js draws the same bits.
 */
const { fround, sqrt } = Math;
const BLOCK = 16;
const HALF = BLOCK / 2;
const STATE = 624;
const DISTANCE = 397;

/** So many words of the Mersenne Twister (mt19937) from its start, seeded as torch.manual_seed(seed) does. */
export function words(seed, count) {
  const state = new Uint32Array(STATE);
  state[0] = seed;
  for (let i = 1; i < STATE; i++) state[i] = Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1812433253) + i;
  const drawn = new Uint32Array(count);
  for (let at = 0; at < count; at++) {
    const i = at % STATE;
    const mixed = (state[i] & 0x80000000) | (state[(i + 1) % STATE] & 0x7fffffff);
    state[i] = state[(i + DISTANCE) % STATE] ^ (mixed >>> 1) ^ (mixed & 1 ? 0x9908b0df : 0);
    let word = state[i];
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    drawn[at] = word ^ (word >>> 18);
  }
  return drawn;
}

/** A number of at least 0 and less than 1, from 24 bits of a word. */
export const uniform = (word) => (word & 0xffffff) / 2 ** 24;

/** With one rounding, as processors multiply and add. */
const multiplyAdd = (a, b, c) => fround(a * b + c);

const LOGARITHM = [
  7.0376836292e-2, -1.151461031e-1, 1.167699874e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
  2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
].map(fround);
const SINE = [-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1].map(fround);
const COSINE = [2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2].map(fround);
const EIGHTH = [-0.78515625, -2029 / 2 ** 23, -3.774894977445941e-8].map(fround);
const LOG_TWO = [-2.1219444e-4, 0.693359375].map(fround);
const ROOT_HALF = fround(Math.SQRT1_2);
const EIGHTHS = fround(1.27323954473516);
const TURN = fround(2 * Math.PI);

const polynomial = (factors, x) => factors.reduce((sum, factor) => multiplyAdd(sum, x, factor));

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

function logarithm(value) {
  float[0] = value;
  let exponent = (bits[0] >>> 23) - 126;
  bits[0] = (bits[0] & 0x7fffff) | 0x3f000000;
  let x = float[0];
  if (x < ROOT_HALF) {
    exponent--;
    x = fround(fround(x - 1) + x);
  } else x = fround(x - 1);
  const square = fround(x * x);
  let y = fround(fround(polynomial(LOGARITHM, x) * x) * square);
  y = multiplyAdd(exponent, LOG_TWO[0], y);
  y = multiplyAdd(square, -0.5, y);
  return multiplyAdd(exponent, LOG_TWO[1], fround(x + y));
}

/** Writes cosine and sine of an angle of at most a turn, times a radius. */
function onCircle(angle, radius, to, at) {
  const eighth = (Math.trunc(fround(angle * EIGHTHS)) + 1) & ~1;
  let x = angle;
  for (const part of EIGHTH) x = multiplyAdd(eighth, part, x);
  const square = fround(x * x);
  let c = fround(fround(polynomial(COSINE, square) * square) * square);
  c = fround(multiplyAdd(square, -0.5, c) + 1);
  const s = multiplyAdd(fround(polynomial(SINE, square) * square), x, x);
  const crossed = (eighth & 2) !== 0;
  to[at] = fround(radius * ((eighth - 2) & 4 ? 1 : -1) * (crossed ? s : c));
  to[at + HALF] = fround(radius * (eighth & 4 ? -1 : 1) * (crossed ? c : s));
}

/** So many standard normal numbers from a stream of words, the first of them at `start`. */
export function normal(stream, start, count) {
  const values = new Float32Array(count);
  const block = (from, to) => {
    for (let i = 0; i < HALF; i++) {
      const length = fround(1 - uniform(stream[from + i]));
      const radius = fround(sqrt(fround(-2 * logarithm(length))));
      onCircle(fround(TURN * uniform(stream[from + HALF + i])), radius, values, to + i);
    }
  };
  for (let at = 0; at + BLOCK <= count; at += BLOCK) block(start + at, at);
  // The last block is drawn anew, and lies over the end of the one before.
  if (count % BLOCK !== 0) block(start + count, count - BLOCK);
  return values;
}
