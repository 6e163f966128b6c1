const BITS = 128n;

/** 2 artanh(a / b), in units of 2^-128. */
function doubleArtanh(a: bigint, b: bigint): bigint {
  const part = (a << BITS) / b;
  const square = (part * part) >> BITS;
  let sum = 0n;
  let power = part;
  for (let k = 1n; power !== 0n && power !== -1n; k += 2n) {
    sum += power / k;
    power = (power * square) >> BITS;
  }
  return 2n * sum;
}

const LOG_2 = doubleArtanh(1n, 3n);

/**
 * The natural logarithm as the double next to it, which Python's math.log gives for ratios of small numbers, and Math.log not always.
 * @param ratio above 0
 */
export function roundedLog(ratio: number): number {
  let [mantissa, exponent] = [ratio, 0];
  for (; mantissa >= Math.SQRT2; exponent++) mantissa /= 2;
  for (; mantissa < Math.SQRT1_2; exponent--) mantissa *= 2;
  const one = 2n ** 53n;
  const scaled = BigInt(mantissa * 2 ** 53);
  const found = BigInt(exponent) * LOG_2 + doubleArtanh(scaled - one, scaled + one);
  return Number(found) / 2 ** Number(BITS);
}
