/** Complex numbers, real and imaginary parts apart. */
export interface Complex {
  re: Float64Array;
  im: Float64Array;
}

/**
 * A discrete Fourier transform of `length` complex numbers, of any length; fast for products of small primes, such as 400.
 * Decimation in time with mixed radices, level by level. The result is overwritten by the next call.
 */
export function createFft(length: number): (input: Complex) => Complex {
  const radices = radicesOf(length);
  const order = inputOrder(length, radices);
  const roots = rootsOf(length);
  const output = { re: new Float64Array(length), im: new Float64Array(length) };
  const levels = radices.toReversed().map((radix) => levelOf(radix, roots));
  return (input) => {
    for (let i = 0; i < length; i++) {
      output.re[i] = input.re[order[i]!]!;
      output.im[i] = input.im[order[i]!]!;
    }
    let size = 1;
    for (const { radix, join } of levels) {
      const step = length / (size * radix);
      for (let start = 0; start < length; start += size * radix) {
        for (let k = 0; k < size; k++) join(output, start + k, size, k * step);
      }
      size *= radix;
    }
    return output;
  };
}

/** exp(-2 pi i k / length) */
function rootsOf(length: number): Complex {
  const [re, im] = [Math.cos, Math.sin].map((wave) =>
    Float64Array.from({ length }, (_, i) => wave((-2 * Math.PI * i) / length)),
  ) as [Float64Array, Float64Array];
  return { re, im };
}

/** Fours as far as there are, then primes. */
function radicesOf(length: number): number[] {
  const radices: number[] = [];
  let rest = length;
  for (; rest % 4 === 0; rest /= 4) radices.push(4);
  for (let prime = 2; rest > 1; prime++) {
    for (; rest % prime === 0; rest /= prime) radices.push(prime);
  }
  return radices;
}

/** Which number of the input stands where before the first level. */
function inputOrder(length: number, radices: readonly number[]): Int32Array {
  let order = Int32Array.of(0);
  for (const radix of radices.toReversed()) {
    const next = new Int32Array(order.length * radix);
    const step = length / next.length;
    for (let part = 0; part < radix; part++)
      for (const [i, from] of order.entries()) next[part * order.length + i] = from + part * step;
    order = next;
  }
  return order;
}

/**
 * Joins `radix` transforms of `size` numbers at one place of each, from `at` on.
 * @param turn index of the root that turns the second of them
 */
type Join = (data: Complex, at: number, size: number, turn: number) => void;

function levelOf(radix: number, roots: Complex): { radix: number; join: Join } {
  if (radix === 4) return { radix, join: joinFour(roots) };
  return { radix, join: joinAny(radix, roots) };
}

function joinFour({ re: cos, im: sin }: Complex): Join {
  return ({ re, im }, at, size, turn) => {
    const [b, c, d] = [at + size, at + 2 * size, at + 3 * size];
    const bRe = re[b]! * cos[turn]! - im[b]! * sin[turn]!;
    const bIm = re[b]! * sin[turn]! + im[b]! * cos[turn]!;
    const cRe = re[c]! * cos[2 * turn]! - im[c]! * sin[2 * turn]!;
    const cIm = re[c]! * sin[2 * turn]! + im[c]! * cos[2 * turn]!;
    const dRe = re[d]! * cos[3 * turn]! - im[d]! * sin[3 * turn]!;
    const dIm = re[d]! * sin[3 * turn]! + im[d]! * cos[3 * turn]!;
    const sumRe = re[at]! + cRe;
    const sumIm = im[at]! + cIm;
    const gapRe = re[at]! - cRe;
    const gapIm = im[at]! - cIm;
    re[at] = sumRe + (bRe + dRe);
    im[at] = sumIm + (bIm + dIm);
    re[b] = gapRe + (bIm - dIm);
    im[b] = gapIm - (bRe - dRe);
    re[c] = sumRe - (bRe + dRe);
    im[c] = sumIm - (bIm + dIm);
    re[d] = gapRe - (bIm - dIm);
    im[d] = gapIm + (bRe - dRe);
  };
}

function joinAny(radix: number, { re: cos, im: sin }: Complex): Join {
  const own = rootsOf(radix);
  const [heldRe, heldIm] = [new Float64Array(radix), new Float64Array(radix)];
  return ({ re, im }, at, size, turn) => {
    for (let part = 0, from = at, root = 0; part < radix; part++, from += size, root += turn) {
      heldRe[part] = re[from]! * cos[root]! - im[from]! * sin[root]!;
      heldIm[part] = re[from]! * sin[root]! + im[from]! * cos[root]!;
    }
    for (let k = 0, to = at; k < radix; k++, to += size) {
      let sumRe = heldRe[0]!;
      let sumIm = heldIm[0]!;
      for (let part = 1, root = k; part < radix; part++) {
        sumRe += heldRe[part]! * own.re[root]! - heldIm[part]! * own.im[root]!;
        sumIm += heldRe[part]! * own.im[root]! + heldIm[part]! * own.re[root]!;
        root += k;
        if (root >= radix) root -= radix;
      }
      re[to] = sumRe;
      im[to] = sumIm;
    }
  };
}

/**
 * Powers |X|^2 of two real signals in one transform: the first as real parts, the second as imaginary ones.
 * @param powers `length / 2 + 1` numbers of each, written
 */
export function powersOfPair(spectrum: Complex, powers: readonly [Float64Array, Float64Array]): void {
  const { re, im } = spectrum;
  const length = re.length;
  for (let k = 0; k < powers[0].length; k++) {
    const mirror = k === 0 ? 0 : length - k;
    const sumRe = re[k]! + re[mirror]!;
    const sumIm = im[k]! + im[mirror]!;
    const gapRe = re[k]! - re[mirror]!;
    const gapIm = im[k]! - im[mirror]!;
    powers[0][k] = (sumRe * sumRe + gapIm * gapIm) / 4;
    powers[1][k] = (sumIm * sumIm + gapRe * gapRe) / 4;
  }
}
