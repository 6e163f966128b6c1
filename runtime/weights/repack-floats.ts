/** Floats of four bits (E2M1), doubled, which makes them integers. */
const DOUBLED = [0, 1, 2, 3, 4, 6, 8, 12];

/** Floats that share a power of two. */
export const FLOATS_OF_A_SCALE = 32;

/** What is added to stored powers; one more takes the doubling back. */
const BIAS = 127;

/** How a byte's two floats are stored, in the layout of ONNX Runtime's MatMulNBits of eight bits: their double + 128. */
const PAIRS = Uint16Array.from({ length: 256 }, (_, byte) => codeOf(byte & 15) | (codeOf(byte >> 4) << 8));

function codeOf(float: number): number {
  const doubled = DOUBLED[float & 7]!;
  return 128 + (float < 8 ? doubled : -doubled);
}

/**
 * Floats of four bits as integers of eight, with a scale for each 32: nothing is rounded.
 * @param pairs two floats in a byte @param powers of two, + 127
 */
export function repackFloats(
  pairs: Uint8Array,
  powers: Uint8Array,
): { data: Uint8Array; scales: Float32Array } {
  const data = new Uint16Array(pairs.length);
  pairs.forEach((byte, i) => {
    data[i] = PAIRS[byte]!;
  });
  const scales = Float32Array.from(powers, (power) => 2 ** (power - BIAS - 1));
  return { data: new Uint8Array(data.buffer), scales };
}
