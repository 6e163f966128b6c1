import { halfTable } from '../weights/floats.js';
import { ggmlTypeNamed } from './blocks.js';

/** A type's numbers as (integer · scale) + offset, exact but for the rounding of float32. */
export interface BlockForm {
  /** That hold the integers. */
  bits: 4 | 8;
  /** Numbers that share a scale and an offset. */
  group: number;
  hasOffsets: boolean;
}

/** Numbers in the order of the file, scales and offsets of their groups. */
export interface DecodedBlocks {
  /** From -2^(bits - 1) on. */
  integers: Int8Array;
  scales: Float32Array;
  offsets: Float32Array | undefined;
}

/** Where a block is decoded to. */
interface Target extends DecodedBlocks {
  offsets: Float32Array;
  /** Of its first integer, and of its first group. */
  at: number;
  group: number;
}

type Decode = (bytes: Uint8Array, start: number, target: Target) => void;

const word = (bytes: Uint8Array, at: number): number => bytes[at]! | (bytes[at + 1]! << 8);
const half = (bytes: Uint8Array, at: number): number => halfTable()[word(bytes, at)]!;
const signed = (byte: number): number => (byte << 24) >> 24;

/** Sixteen bytes have the first 16 numbers in their low halves, the others in their high ones. */
function halves({ integers, at }: Target, bytes: Uint8Array, from: number, values: Int8Array): void {
  for (let i = 0; i < 16; i++) {
    const byte = bytes[from + i]!;
    integers[at + i] = values[byte & 15]!;
    integers[at + 16 + i] = values[byte >> 4]!;
  }
}

/** The same with a fifth bit of each number in four bytes before them. */
function withFifthBits({ integers, at }: Target, bytes: Uint8Array, from: number): void {
  for (let i = 0; i < 16; i++) {
    const byte = bytes[from + 4 + i]!;
    const [low, high] = [bytes[from + (i >> 3)]! >> (i & 7), bytes[from + 2 + (i >> 3)]! >> (i & 7)];
    integers[at + i] = ((byte & 15) | ((low & 1) << 4)) - 16;
    integers[at + 16 + i] = ((byte >> 4) | ((high & 1) << 4)) - 16;
  }
}

const EVEN = Int8Array.from({ length: 16 }, (_, i) => i - 8);

/** Values of four bits that are not evenly spaced. Source: kvalues_iq4nl of ggml. */
const UNEVEN = Int8Array.of(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);
/** Floats of four bits (E2M1), doubled. */
const FLOATS = Int8Array.of(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);

/** Scale and minimum of a group of Q4_K and Q5_K, six bits each in twelve bytes. */
function scaleAndMinimum(bytes: Uint8Array, from: number, group: number): [scale: number, minimum: number] {
  if (group < 4) return [bytes[from + group]! & 63, bytes[from + group + 4]! & 63];
  const both = bytes[from + group + 4]!;
  return [
    (both & 15) | ((bytes[from + group - 4]! >> 6) << 4),
    (both >> 4) | ((bytes[from + group]! >> 6) << 4),
  ];
}

/** Q4_K and Q5_K: pairs of 32 numbers in the halves of 32 bytes, a fifth bit of each apart. */
const superBlock =
  (place: { quants: number; high?: number; middle: number }): Decode =>
  (bytes, start, { integers, scales, offsets, at, group }) => {
    const [scale, least] = [half(bytes, start), half(bytes, start + 2)];
    for (let part = 0; part < 8; part++) {
      const [own, minimum] = scaleAndMinimum(bytes, start + 4, part);
      const from = start + place.quants + 32 * (part >> 1);
      for (let i = 0; i < 32; i++) {
        const byte = bytes[from + i]!;
        const low = part & 1 ? byte >> 4 : byte & 15;
        const high = place.high === undefined ? 0 : ((bytes[start + place.high + i]! >> part) & 1) << 4;
        integers[at + 32 * part + i] = (low | high) - place.middle;
      }
      scales[group + part] = scale * own;
      offsets[group + part] = place.middle * scale * own - least * minimum;
    }
  };

interface Decoder extends BlockForm {
  decode: Decode;
}

const eightBits = { bits: 8, group: 32, hasOffsets: false } as const;
const fourBits = { bits: 4, group: 32, hasOffsets: false } as const;

/** By the reference in ggml (dequantize_row_*). */
const DECODERS: Readonly<Record<string, Decoder>> = {
  Q4_0: {
    ...fourBits,
    decode(bytes, start, target) {
      halves(target, bytes, start + 2, EVEN);
      target.scales[target.group] = half(bytes, start);
    },
  },
  Q4_1: {
    ...{ ...fourBits, hasOffsets: true },
    decode(bytes, start, target) {
      halves(target, bytes, start + 4, EVEN);
      const scale = half(bytes, start);
      target.scales[target.group] = scale;
      target.offsets[target.group] = half(bytes, start + 2) + 8 * scale;
    },
  },
  Q5_0: {
    ...eightBits,
    decode(bytes, start, target) {
      withFifthBits(target, bytes, start + 2);
      target.scales[target.group] = half(bytes, start);
    },
  },
  Q5_1: {
    ...{ ...eightBits, hasOffsets: true },
    decode(bytes, start, target) {
      withFifthBits(target, bytes, start + 4);
      const scale = half(bytes, start);
      target.scales[target.group] = scale;
      target.offsets[target.group] = half(bytes, start + 2) + 16 * scale;
    },
  },
  Q8_0: {
    ...eightBits,
    decode(bytes, start, { integers, scales, at, group }) {
      for (let i = 0; i < 32; i++) integers[at + i] = signed(bytes[start + 2 + i]!);
      scales[group] = half(bytes, start);
    },
  },
  Q2_K: {
    ...{ bits: 4, group: 16, hasOffsets: true },
    decode(bytes, start, { integers, scales, offsets, at, group }) {
      const [scale, least] = [half(bytes, start + 80), half(bytes, start + 82)];
      for (let part = 0; part < 16; part++) {
        const both = bytes[start + part]!;
        const from = start + 16 + 32 * (part >> 3) + 16 * (part & 1);
        const shift = 2 * ((part >> 1) & 3);
        for (let i = 0; i < 16; i++) integers[at + 16 * part + i] = ((bytes[from + i]! >> shift) & 3) - 2;
        scales[group + part] = scale * (both & 15);
        offsets[group + part] = 2 * scale * (both & 15) - least * (both >> 4);
      }
    },
  },
  Q3_K: {
    ...{ bits: 4, group: 16, hasOffsets: false },
    decode(bytes, start, { integers, scales, at, group }) {
      const scale = half(bytes, start + 108);
      for (let part = 0; part < 16; part++) {
        const low = part < 8 ? bytes[start + 96 + part]! & 15 : bytes[start + 88 + part]! >> 4;
        const high = (bytes[start + 104 + (part & 3)]! >> (2 * (part >> 2))) & 3;
        const from = start + 32 + 32 * (part >> 3) + 16 * (part & 1);
        const shift = 2 * ((part >> 1) & 3);
        for (let i = 0; i < 16; i++) {
          const isHigh = (bytes[start + 16 * (part & 1) + i]! >> (part >> 1)) & 1;
          integers[at + 16 * part + i] = ((bytes[from + i]! >> shift) & 3) - (isHigh ? 0 : 4);
        }
        scales[group + part] = scale * ((low | (high << 4)) - 32);
      }
    },
  },
  Q4_K: { ...fourBits, hasOffsets: true, decode: superBlock({ quants: 16, middle: 8 }) },
  Q5_K: { ...eightBits, hasOffsets: true, decode: superBlock({ quants: 48, high: 16, middle: 16 }) },
  Q6_K: {
    ...{ bits: 8, group: 16, hasOffsets: false },
    decode(bytes, start, { integers, scales, at, group }) {
      const scale = half(bytes, start + 208);
      for (let i = 0; i < 256; i++) {
        const [side, quarter, place] = [i >> 7, (i >> 5) & 3, i & 31];
        const low = bytes[start + 64 * side + 32 * (quarter & 1) + place]!;
        const high = bytes[start + 128 + 32 * side + place]! >> (2 * quarter);
        integers[at + i] = ((quarter > 1 ? low >> 4 : low & 15) | ((high & 3) << 4)) - 32;
      }
      for (let part = 0; part < 16; part++) scales[group + part] = scale * signed(bytes[start + 192 + part]!);
    },
  },
  IQ4_NL: {
    ...eightBits,
    decode(bytes, start, target) {
      halves(target, bytes, start + 2, UNEVEN);
      target.scales[target.group] = half(bytes, start);
    },
  },
  IQ4_XS: {
    ...eightBits,
    decode(bytes, start, target) {
      const scale = half(bytes, start);
      const high = word(bytes, start + 2);
      for (let part = 0; part < 8; part++) {
        const low = (bytes[start + 4 + (part >> 1)]! >> (4 * (part & 1))) & 15;
        const own = low | (((high >> (2 * part)) & 3) << 4);
        halves({ ...target, at: target.at + 32 * part }, bytes, start + 8 + 16 * part, UNEVEN);
        target.scales[target.group + part] = scale * (own - 32);
      }
    },
  },
  MXFP4: {
    ...eightBits,
    decode(bytes, start, target) {
      halves(target, bytes, start + 1, FLOATS);
      // One less than the power, for the doubled floats.
      target.scales[target.group] = 2 ** (bytes[start]! - 128);
    },
  },
};

/** How numbers of a type are multiplied; undefined for one that has no exact form here. */
export function blockForm(type: string): BlockForm | undefined {
  const decoder = Object.hasOwn(DECODERS, type) ? DECODERS[type] : undefined;
  if (!decoder) return undefined;
  const { bits, group, hasOffsets } = decoder;
  return { bits, group, hasOffsets };
}

/** Whole blocks of a type. @param type one that `blockForm` knows */
export function decodeBlocks(type: string, bytes: Uint8Array): DecodedBlocks {
  const { decode, group, hasOffsets } = DECODERS[type]!;
  const { numbers, bytes: each } = ggmlTypeNamed(type)!;
  const blocks = bytes.length / each;
  const groups = (blocks * numbers) / group;
  const target: Target = {
    integers: new Int8Array(blocks * numbers),
    scales: new Float32Array(groups),
    offsets: new Float32Array(hasOffsets ? groups : 0),
    ...{ at: 0, group: 0 },
  };
  for (let i = 0; i < blocks; i++) {
    target.at = i * numbers;
    target.group = (i * numbers) / group;
    decode(bytes, i * each, target);
  }
  const { integers, scales, offsets } = target;
  return { integers, scales, offsets: hasOffsets ? offsets : undefined };
}

/** The same numbers as float32. */
export function floatsOfBlocks(type: string, bytes: Uint8Array): Float32Array {
  const { integers, scales, offsets } = decodeBlocks(type, bytes);
  const { group } = DECODERS[type]!;
  const floats = new Float32Array(integers.length);
  for (let i = 0; i < floats.length; i++) {
    const at = Math.floor(i / group);
    floats[i] = integers[i]! * scales[at]! + (offsets?.[at] ?? 0);
  }
  return floats;
}

/** Integers as products read them: those of four bits two in a byte, the first in its low half. */
export function packIntegers(integers: Int8Array, bits: 4 | 8): Uint8Array {
  // Loops: TypedArray.from, which goes through an iterator, takes twenty times as long.
  const packed = new Uint8Array((integers.length * bits) / 8);
  if (bits === 8) for (let i = 0; i < packed.length; i++) packed[i] = integers[i]! + 128;
  else
    for (let i = 0; i < packed.length; i++)
      packed[i] = (integers[2 * i]! + 8) | ((integers[2 * i + 1]! + 8) << 4);
  return packed;
}
