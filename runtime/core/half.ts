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
