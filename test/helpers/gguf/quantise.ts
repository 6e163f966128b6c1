import { numberToHalfBits } from '../../../runtime/core/half.js';
import { bytesOf } from '../../../runtime/weights/index.js';

/** Blocks of 32 numbers behind their scale. */
function inBlocks(
  values: Float32Array,
  size: number,
  write: (block: Float32Array, to: DataView) => void,
): Uint8Array {
  const bytes = new Uint8Array((values.length / 32) * size);
  for (let i = 0; i < values.length / 32; i++)
    write(values.subarray(i * 32, (i + 1) * 32), new DataView(bytes.buffer, i * size, size));
  return bytes;
}

const farthest = (block: Float32Array): number =>
  block.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);

const WRITERS: Readonly<Record<string, (values: Float32Array) => Uint8Array>> = {
  F32: (values) => bytesOf(values, 'F32'),
  F16: (values) => bytesOf(values, 'F16'),
  BF16: (values) => bytesOf(values, 'BF16'),
  Q8_0: (values) =>
    inBlocks(values, 34, (block, to) => {
      const scale = Math.abs(farthest(block)) / 127;
      to.setUint16(0, numberToHalfBits(scale), true);
      block.forEach((value, i) => to.setInt8(2 + i, scale === 0 ? 0 : Math.round(value / scale)));
    }),
  Q4_0: (values) =>
    inBlocks(values, 18, (block, to) => {
      const scale = farthest(block) / -8;
      to.setUint16(0, numberToHalfBits(scale), true);
      const whole = (i: number) =>
        Math.min(15, Math.max(0, scale === 0 ? 8 : Math.floor(block[i]! / scale + 8.5)));
      for (let i = 0; i < 16; i++) to.setUint8(2 + i, whole(i) | (whole(16 + i) << 4));
    }),
  Q4_1: (values) =>
    inBlocks(values, 20, (block, to) => {
      const [least, most] = [Math.min(...block), Math.max(...block)];
      const scale = (most - least) / 15;
      to.setUint16(0, numberToHalfBits(scale), true);
      to.setUint16(2, numberToHalfBits(least), true);
      const whole = (i: number) => Math.min(15, Math.max(0, Math.round((block[i]! - least) / (scale || 1))));
      for (let i = 0; i < 16; i++) to.setUint8(4 + i, whole(i) | (whole(16 + i) << 4));
    }),
};

/** Numbers as a type of ggml. */
export function quantise(values: Float32Array, type: string): Uint8Array {
  return WRITERS[type]!(values);
}
