/** Floats of four bits (E2M1), doubled, which makes them integers. */
const DOUBLED = [0, 1, 2, 3, 4, 6, 8, 12];

/** Floats that share a power of two. */
export const FLOATS_OF_A_SCALE = 32;

/** What is added to stored powers; one more takes the doubling back. */
const BIAS = 127;

/** What integers of four bits reach. */
const [LEAST, MOST] = [-8, 7];

function doubled(float: number): number {
  const value = DOUBLED[float & 7]!;
  return float < 8 ? value : -value;
}

const first = (float: number): number => Math.min(MOST, Math.max(LEAST, doubled(float)));
const rest = (float: number): number => doubled(float) - first(float);

/** For each byte, two floats, the same in integers, as ONNX Runtime's MatMulNBits has them. */
const tableOf = (part: (float: number) => number): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) => (part(byte & 15) - LEAST) | ((part(byte >> 4) - LEAST) << 4));

const [FIRST, REST] = [tableOf(first), tableOf(rest)];

/**
 * Floats of four bits as sums of two integers of four bits, with a scale for each 32: nothing is rounded. (One integer of eight bits
 * would do, too, but products with those take ninety times as long unless activations are rounded.)
 * @param pairs two floats in a byte @param powers of two, + 127
 */
export function repackFloats(
  pairs: Uint8Array,
  powers: Uint8Array,
): { data: Uint8Array; rest: Uint8Array; scales: Float32Array } {
  return {
    data: pairs.map((byte) => FIRST[byte]!),
    rest: pairs.map((byte) => REST[byte]!),
    scales: Float32Array.from(powers, (power) => 2 ** (power - BIAS - 1)),
  };
}
