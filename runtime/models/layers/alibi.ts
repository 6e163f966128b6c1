import { BFLOAT16, ELEMENTS } from '../writer/tensors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import type { DecoderInputs } from './decoder-inputs.js';
import { headGroup } from './head-sizes.js';

/** Positions as what is added to scores: a slope of each head times the place of the key. */

/** Bloom's: those of the next smaller power of two, then every second one of the next larger. */
export function bloomSlopes(heads: number): number[] {
  const power = 2 ** Math.floor(Math.log2(heads));
  const slopes = (count: number, of: number) =>
    Array.from({ length: count }, (_, i) => Math.fround(2 ** -(2 ** -(Math.log2(of) - 3))) ** (i + 1));
  const more = slopes(2 * (heads - power), 2 * power).filter((_, i) => i % 2 === 0);
  return [...slopes(power, power), ...more];
}

/** transformers' MPT takes this one whatever a configuration says as `alibi_bias_max`. */
const MOST = 8;

/** MPT's: those of the next larger power of two, the second, fourth, … first. */
export function mptSlopes(heads: number): number[] {
  const power = 2 ** Math.ceil(Math.log2(heads));
  const slopes = Array.from({ length: power }, (_, i) => 2 ** ((-(i + 1) * MOST) / power));
  if (power === heads) return slopes;
  const [even, odd] = [0, 1].map((rest) => slopes.filter((_, i) => i % 2 === rest)) as [number[], number[]];
  return [...odd, ...even].slice(0, heads);
}

/** Nearest bfloat16, ties to even. */
function rounded(value: number): number {
  const bits = new DataView(new ArrayBuffer(4));
  bits.setFloat32(0, value);
  const whole = bits.getUint32(0);
  bits.setUint32(0, (whole + 0x7fff + ((whole >>> 16) & 1)) & 0xffff0000);
  return bits.getFloat32(0);
}

export interface FalconPositions {
  heads: number;
  keyHeads: number;
  /** What positions are multiplied with, as scores are. */
  scale: number;
}

/**
 * Falcon's mask, float32 [rows, key heads, heads of each, tokens, all tokens]: Bloom's slopes times positions from the first token
 * on, in 16 bits (bfloat16).
 */
export function falconMask(
  g: GraphWriter,
  inputs: DecoderInputs,
  { heads, keyHeads, scale }: FalconPositions,
): Value {
  return g.once('mask with positions', () => {
    const inHalf = (value: Value) =>
      g.node('Cast', [g.node('Cast', [value], { to: BFLOAT16 })], { to: ELEMENTS.float32 });
    const positions = inHalf(g.node('Cast', [inputs.allPositions], { to: ELEMENTS.float32 }));
    const keys = g.node('Unsqueeze', [positions, g.ints([1, 2, 3])]);
    const slopes = g.floats(bloomSlopes(heads).map(rounded), [1, keyHeads, headGroup(heads, keyHeads), 1, 1]);
    const added = g.node('Mul', [inHalf(g.node('Mul', [keys, slopes])), g.scalar(scale)]);
    return g.node('Add', [inputs.mask(), added]);
  });
}

/**
 * The mask of a decoder with such positions, float32 [rows, heads, 1, tokens, all tokens]; for heads that share no keys.
 * Made once. Softmax sees differences only, so positions count from the first token, or back `fromEnd`.
 */
export function alibiMask(
  g: GraphWriter,
  inputs: DecoderInputs,
  slopes: readonly number[],
  { fromEnd = false } = {},
): Value {
  return g.once('mask with positions', () => {
    const all = inputs.allPositions;
    const last = () => g.node('ReduceMax', [all, g.ints([1])], { keepdims: 1 });
    const counted = fromEnd ? g.node('Sub', [all, last()]) : all;
    const positions = g.node('Cast', [counted], { to: ELEMENTS.float32 });
    const keys = g.node('Unsqueeze', [positions, g.ints([1, 2, 3])]);
    const added = g.node('Mul', [keys, g.floats(slopes, [1, slopes.length, 1, 1, 1])]);
    return g.node('Add', [inputs.mask(), added]);
  });
}
