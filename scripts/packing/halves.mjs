/** Numbers of 16 bits (IEEE 754 binary16), which Node.js 20 has no array of. */

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** The bits of a number, rounded to the nearest, of two as near to the even one. */
export function halfOf(value) {
  float[0] = value;
  const sign = (bits[0] >>> 16) & 0x8000;
  const exponent = ((bits[0] >>> 23) & 0xff) - 112;
  const fraction = bits[0] & 0x7fffff;
  if (exponent >= 31) return sign | 0x7c00;
  if (exponent > 0) return sign | rounded((exponent << 23) | fraction, 13);
  return exponent < -10 ? sign : sign | rounded(fraction | 0x800000, 14 - exponent);
}

/** Without its last bits. */
function rounded(value, count) {
  const [kept, rest, middle] = [value >>> count, value & ((1 << count) - 1), 1 << (count - 1)];
  return rest > middle || (rest === middle && kept & 1) ? kept + 1 : kept;
}

/** @param half bits of a finite number */
export function floatOf(half) {
  const [exponent, fraction] = [(half >>> 10) & 31, half & 1023];
  const size = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return half & 0x8000 ? -size : size;
}
