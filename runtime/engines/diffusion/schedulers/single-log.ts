/** Coefficients of numpy's approximation of log(1 + x) by a quotient of polynomials, from the highest power on. */
const [NUMERATOR, DENOMINATOR] = [
  [
    ...[0.025899791179079226, 0.3808837741388408, 1.4800006335765066],
    ...[2.112677543073053, 0.9999999999999999, 0],
  ],
  [
    ...[0.005875095403124574, 0.15464763749839067, 0.9864942958519419],
    ...[2.453006071784736, 2.6126775430731093, 1],
  ],
].map((all) => all.map(Math.fround)) as [number[], number[]];

const SQRT2 = Math.fround(Math.SQRT2);
const LN2 = Math.fround(Math.LN2);

/**
 * The logarithm of a positive normal number of single precision as numpy computes it on x86, which is up to two units in the
 * last place off: timesteps that are cut off to whole ones hang on that place. Each product and sum is rounded once.
 */
function singleLog(value: number): number {
  let exponent = Math.floor(Math.log2(value));
  let mantissa = value / 2 ** exponent;
  if (mantissa >= 2 || mantissa < 1) {
    exponent += mantissa < 1 ? -1 : 1;
    mantissa = value / 2 ** exponent;
  }
  if (mantissa > SQRT2) {
    exponent++;
    mantissa /= 2;
  }
  const x = mantissa - 1;
  const at = (all: readonly number[]) => all.reduce((sum, one) => Math.fround(sum * x + one));
  return Math.fround(exponent * LN2 + Math.fround(at(NUMERATOR) / at(DENOMINATOR)));
}

/** Those of noise levels. */
export const singleLogs = (values: Float32Array): Float32Array => values.map(singleLog);
