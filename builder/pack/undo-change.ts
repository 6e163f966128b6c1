import { bytesOf, floatsOf, type StoredTensor } from '../../runtime/weights/index.js';

/**
 * The bytes of a tensor as transformers has them.
 * @param bytes all of them where rows or frames are in another order; else any
 */
export function undoChange(bytes: Uint8Array, { change, shape, type, blocks }: StoredTensor): Uint8Array {
  if (!change) return bytes;
  if (change.kind === 'rows') return withHalves(bytes, shape[0]!, change.heads);
  if (change.kind === 'frames') return betweenFrames(bytes, shape[0]! * shape[1]!, change.count);
  if (blocks) throw new TypeError('what is added to packed numbers is not known');
  return bytesOf(
    floatsOf(bytes, type).map((value) => value + change.value),
    type,
  );
}

/** Rows of each head as its two halves, of pairs that rotate together. */
function withHalves(bytes: Uint8Array, rows: number, heads: number): Uint8Array {
  const [width, each] = [rows / heads, bytes.length / rows];
  const found = new Uint8Array(bytes.length);
  for (let row = 0; row < rows; row++) {
    const [head, place] = [Math.floor(row / width), row % width];
    const pair = place % (width / 2);
    const from = head * width + 2 * pair + (place < width / 2 ? 0 : 1);
    found.set(bytes.subarray(from * each, (from + 1) * each), row * each);
  }
  return found;
}

/** What each of so many outputs and channels has of the frames, side by side. */
function betweenFrames(bytes: Uint8Array, count: number, frames: number): Uint8Array {
  const each = bytes.length / frames / count;
  const found = new Uint8Array(bytes.length);
  for (let frame = 0; frame < frames; frame++)
    for (let i = 0; i < count; i++) {
      const from = (frame * count + i) * each;
      found.set(bytes.subarray(from, from + each), (i * frames + frame) * each);
    }
  return found;
}
