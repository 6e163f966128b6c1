/** The bits of half precision values, without a copy; newer versions of Node.js use Float16Array for them. */
export function bitsOf(data: ArrayBufferView & { readonly length: number }): Uint16Array {
  return data instanceof Uint16Array ? data : new Uint16Array(data.buffer, data.byteOffset, data.length);
}

/** Converts 16 bits of IEEE half precision to a number. */
export function halfBitsToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The nearest value of IEEE half precision, as its 16 bits. */
export function numberToHalfBits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size >= 65520) return sign | 0x7c00;
  const power = Math.max(-14, Math.floor(Math.log2(size)));
  // A logarithm may be rounded up to the next power.
  const exponent = power > -14 && 2 ** power > size ? power - 1 : power;
  const steps = size * 2 ** (10 - exponent);
  const down = Math.floor(steps);
  const up = steps - down > 0.5 || (steps - down === 0.5 && down % 2 === 1);
  // Steps from 1024 on raise the exponent's bits by themselves.
  return sign | (((exponent + 14) << 10) + down + (up ? 1 : 0));
}
