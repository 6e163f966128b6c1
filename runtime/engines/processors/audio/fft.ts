/** Complex numbers, real and imaginary parts apart. */
export interface Complex {
  re: Float64Array;
  im: Float64Array;
}

/**
 * A discrete Fourier transform of `length` complex numbers, of any length; fast for products of small primes, such as 400.
 * Decimation in time with mixed radices. The result is overwritten by the next call.
 */
export function createFft(length: number): (input: Complex) => Complex {
  const radices = primeFactors(length);
  const [cos, sin] = [Math.cos, Math.sin].map((wave) =>
    Float64Array.from({ length }, (_, i) => wave((-2 * Math.PI * i) / length)),
  ) as [Float64Array, Float64Array];
  const output = { re: new Float64Array(length), im: new Float64Array(length) };
  const most = Math.max(1, ...radices);
  const held = { re: new Float64Array(most), im: new Float64Array(most) };

  /** Transforms every `stride`-th number from `from` on into `size` numbers at `to`. */
  function transform(input: Complex, { from, stride, to, level }: Part): void {
    const radix = radices[level];
    if (radix === undefined) {
      output.re[to] = input.re[from]!;
      output.im[to] = input.im[from]!;
      return;
    }
    const size = length / stride / radix;
    for (let part = 0; part < radix; part++) {
      const [next, at] = [from + part * stride, to + part * size];
      transform(input, { from: next, stride: stride * radix, to: at, level: level + 1 });
    }
    for (let k = 0; k < size; k++) butterfly({ radix, size, stride, to: to + k, k });
  }

  /** Joins `radix` transforms of `size` numbers at one place of each. */
  function butterfly({ radix, size, stride, to, k }: Butterfly): void {
    for (let part = 0; part < radix; part++) {
      const turn = part * k * stride;
      const [re, im] = [output.re[to + part * size]!, output.im[to + part * size]!];
      held.re[part] = re * cos[turn]! - im * sin[turn]!;
      held.im[part] = re * sin[turn]! + im * cos[turn]!;
    }
    const step = length / radix;
    for (let at = 0; at < radix; at++) {
      let [re, im] = [held.re[0]!, held.im[0]!];
      for (let part = 1; part < radix; part++) {
        const turn = (step * ((at * part) % radix)) | 0;
        re += held.re[part]! * cos[turn]! - held.im[part]! * sin[turn]!;
        im += held.re[part]! * sin[turn]! + held.im[part]! * cos[turn]!;
      }
      output.re[to + at * size] = re;
      output.im[to + at * size] = im;
    }
  }

  return (input) => {
    transform(input, { from: 0, stride: 1, to: 0, level: 0 });
    return output;
  };
}

interface Part {
  from: number;
  stride: number;
  to: number;
  /** How many radices are done. */
  level: number;
}

interface Butterfly {
  radix: number;
  size: number;
  stride: number;
  to: number;
  k: number;
}

function primeFactors(length: number): number[] {
  const factors: number[] = [];
  let rest = length;
  for (let factor = 2; rest > 1; factor++) {
    for (; rest % factor === 0; rest /= factor) factors.push(factor);
  }
  return factors;
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
    const [sumRe, sumIm] = [re[k]! + re[mirror]!, im[k]! + im[mirror]!];
    const [gapRe, gapIm] = [re[k]! - re[mirror]!, im[k]! - im[mirror]!];
    powers[0][k] = (sumRe * sumRe + gapIm * gapIm) / 4;
    powers[1][k] = (sumIm * sumIm + gapRe * gapRe) / 4;
  }
}
