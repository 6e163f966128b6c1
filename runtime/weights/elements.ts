/**
 * Bits of one element, by the names of types in safetensors. Source: the Dtype of its reference implementation; C128 is
 * torch's complex128, for which safetensors has no name.
 */
const BITS: ReadonlyMap<string, number> = new Map([
  ['BOOL', 8],
  ['F4', 4],
  ['F6_E2M3', 6],
  ['F6_E3M2', 6],
  ['U8', 8],
  ['I8', 8],
  ['F8_E5M2', 8],
  ['F8_E4M3', 8],
  ['F8_E8M0', 8],
  ['F8_E4M3FNUZ', 8],
  ['F8_E5M2FNUZ', 8],
  ['I16', 16],
  ['U16', 16],
  ['F16', 16],
  ['BF16', 16],
  ['I32', 32],
  ['U32', 32],
  ['F32', 32],
  ['C64', 64],
  ['F64', 64],
  ['I64', 64],
  ['U64', 64],
  ['C128', 128],
]);

/** Most dimensions of a tensor, as in torch. */
export const MAX_RANK = 64;

/** Bits of one element; undefined for a type that nobody knows. */
export function bitsOf(type: string): number | undefined {
  return BITS.get(type);
}

/** Product of the dimensions; undefined beyond 2^53. */
export function elementsOf(shape: readonly number[]): number | undefined {
  let count = 1;
  for (const size of shape) {
    count *= size;
    if (!Number.isSafeInteger(count)) return undefined;
  }
  return count;
}

/** Numbers in tensors whose shapes have been checked. */
export const numbersIn = (tensors: Iterable<{ readonly shape: readonly number[] }>): number => {
  let count = 0;
  for (const { shape } of tensors) count += shape.reduce((a, b) => a * b, 1);
  return count;
};

/** Bytes of a tensor; undefined for an unknown type, parts of bytes, and lengths beyond 2^53. */
export function byteLength(type: string, shape: readonly number[]): number | undefined {
  const bits = bitsOf(type);
  const count = elementsOf(shape);
  if (bits === undefined || count === undefined) return undefined;
  const bytes = (count * bits) / 8;
  return Number.isSafeInteger(bytes) && Number.isSafeInteger(count * bits) ? bytes : undefined;
}
