/** Words of the generator's state, and how far apart two of them meet. */
const SIZE = 624;
const DISTANCE = 397;

/** The Mersenne Twister (mt19937), seeded as torch.Generator().manual_seed(seed) is: by the lower 32 bits. */
function mersenneTwister(seed: number): () => number {
  const state = new Uint32Array(SIZE);
  // Seeds may be negative, or larger than 32 bits.
  state[0] = Number(BigInt.asUintN(32, BigInt(seed)));
  for (let i = 1; i < SIZE; i++) {
    const before = state[i - 1]! ^ (state[i - 1]! >>> 30);
    state[i] = Math.imul(before, 1812433253) + i;
  }
  let at = SIZE;

  function renew(): void {
    for (let i = 0; i < SIZE; i++) {
      const mixed = (state[i]! & 0x80000000) | (state[(i + 1) % SIZE]! & 0x7fffffff);
      const twist = mixed & 1 ? 0x9908b0df : 0;
      state[i] = state[(i + DISTANCE) % SIZE]! ^ (mixed >>> 1) ^ twist;
    }
    at = 0;
  }

  return () => {
    if (at === SIZE) renew();
    let word = state[at++]!;
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return (word ^ (word >>> 18)) >>> 0;
  };
}

/** Numbers that torch transforms together. */
const BLOCK = 16;
const HALF = BLOCK / 2;

/**
 * Draws so many numbers.
 * @param options.apart one by one however many there are, as torch fills tensors that are not contiguous
 */
export type DrawNormal = (count: number, options?: { apart?: boolean }) => Float32Array;

/**
 * Standard normal numbers as torch.randn draws them on a CPU, in single precision: equal to the bit for less than 16
 * numbers, within 4e-7 for more, whose logarithms and sines torch computes with vector instructions. Each call goes on
 * where the last one ended, as with one torch.Generator.
 * @param seed a whole number
 */
export function torchNormal(seed: number): DrawNormal {
  const next = mersenneTwister(seed);
  const uniform = () => (next() & 0xffffff) / 2 ** 24;
  let kept: number | undefined;

  /** The Box-Muller transform of 53-bit numbers, one of a pair after the other. */
  function single(): number {
    if (kept !== undefined) {
      const value = kept;
      kept = undefined;
      return value;
    }
    const [angle, length] = [double(next), double(next)];
    const radius = Math.sqrt(-2 * Math.log1p(-length));
    kept = radius * Math.sin(2 * Math.PI * angle);
    return radius * Math.cos(2 * Math.PI * angle);
  }

  return (count, { apart = false } = {}) => {
    if (apart || count < BLOCK) return Float32Array.from({ length: count }, single);
    const values = Float32Array.from({ length: count }, uniform);
    for (let start = 0; start + BLOCK <= count; start += BLOCK) transform(values, start);
    if (count % BLOCK === 0) return values;
    // The last block is drawn anew, and lies over the end of the one before.
    for (let i = count - BLOCK; i < count; i++) values[i] = uniform();
    transform(values, count - BLOCK);
    return values;
  };
}

/** Draws so many numbers, 1 with a probability and 0 else. */
export type DrawBernoulli = (count: number, probability: number) => Float32Array;

/**
 * As torch.bernoulli(tensor, p=probability) draws them on a CPU, one by one.
 * @param seed a whole number
 */
export function torchBernoulli(seed: number): DrawBernoulli {
  const next = mersenneTwister(seed);
  return (count, probability) => {
    const values = new Float32Array(count);
    for (let i = 0; i < count; i++) values[i] = double(next) < probability ? 1 : 0;
    return values;
  };
}

function double(next: () => number): number {
  const [high, low] = [next(), next()];
  return ((high & 0x1fffff) * 2 ** 32 + low) / 2 ** 53;
}

const TURN = Math.fround(2 * Math.PI);

function transform(values: Float32Array, start: number): void {
  for (let i = start; i < start + HALF; i++) {
    const [length, angle] = [Math.fround(1 - values[i]!), Math.fround(TURN * values[i + HALF]!)];
    const radius = Math.fround(Math.sqrt(Math.fround(-2 * Math.fround(Math.log(length)))));
    values[i] = radius * Math.fround(Math.cos(angle));
    values[i + HALF] = radius * Math.fround(Math.sin(angle));
  }
}
