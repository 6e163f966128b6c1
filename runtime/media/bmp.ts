import { setImmediate as nextTurn } from 'node:timers/promises';
import { RunError } from '../core/errors.js';
import type { Image } from './decoded-image.js';

/** What the header of a Windows bitmap says, as far as its pixels need it. */
export interface BmpHeader {
  width: number;
  height: number;
  /** Bits of a pixel: 1, 4 or 8 with a palette, 24, 32. */
  bits: number;
  /** Rows lie from the bottom up. */
  bottomUp: boolean;
  /** Where the pixels begin. */
  offset: number;
  /** Blue, green, red of each colour; empty without a palette. */
  palette: Uint8Array;
}

/** Size of the file header, before that of the image. */
const FILE_HEADER = 14;
/** Header of OS/2, whose palettes have three bytes a colour. */
const CORE_HEADER = 12;
const [UNCOMPRESSED, BIT_FIELDS] = [0, 3];

export const isBmp = (bytes: Uint8Array): boolean => bytes[0] === 0x42 && bytes[1] === 0x4d;

/** @throws RunError 422 a broken header, or a kind that is not read */
export function readBmpHeader(bytes: Uint8Array): BmpHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const size = view.getUint32(FILE_HEADER, true);
    const isCore = size === CORE_HEADER;
    const [width, signed] = isCore
      ? [view.getUint16(18, true), view.getInt16(20, true)]
      : [view.getInt32(18, true), view.getInt32(22, true)];
    const bits = view.getUint16(isCore ? 24 : 28, true);
    const compression = isCore ? UNCOMPRESSED : view.getUint32(30, true);
    const header = { width, height: Math.abs(signed), bits, bottomUp: signed > 0 };
    if (width <= 0 || signed === 0) throw unreadable('it is empty');
    requireKind(view, { bits, compression });
    const offset = view.getUint32(10, true);
    const used = isCore ? 0 : view.getUint32(46, true);
    return { ...header, offset, palette: paletteOf(bytes, { bits, used, isCore, from: FILE_HEADER + size }) };
  } catch (cause) {
    if (cause instanceof RunError) throw cause;
    throw unreadable('its header is cut short', cause);
  }
}

const unreadable = (why: string, cause?: unknown): RunError =>
  new RunError('unprocessable', `the BMP image cannot be read: ${why}`, { cause });

/** Masks of red, green and blue that are the usual bytes. */
const USUAL = [0xff0000, 0xff00, 0xff];

function requireKind(view: DataView, { bits, compression }: { bits: number; compression: number }): void {
  const isPlain = compression === UNCOMPRESSED && [1, 4, 8, 24, 32].includes(bits);
  const isUsual = () => USUAL.every((mask, i) => view.getUint32(54 + 4 * i, true) === mask);
  if (isPlain || (compression === BIT_FIELDS && bits === 32 && isUsual())) return;
  throw unreadable(
    `${bits} bits a pixel with compression ${compression} are not supported; send PNG or JPEG`,
  );
}

interface PaletteAt {
  bits: number;
  /** Colours that the header counts; 0: all that the bits can name. */
  used: number;
  isCore: boolean;
  from: number;
}

function paletteOf(bytes: Uint8Array, { bits, used, isCore, from }: PaletteAt): Uint8Array {
  if (bits > 8) return new Uint8Array();
  const entry = isCore ? 3 : 4;
  const count = used > 0 ? Math.min(used, 2 ** bits) : 2 ** bits;
  // What a file names beyond its palette is black.
  const palette = new Uint8Array(3 * 2 ** bits);
  for (let i = 0; i < count; i++) palette.set(bytes.subarray(from + i * entry, from + i * entry + 3), 3 * i);
  return palette;
}

/** Pixels between two turns of the event loop. */
const SLICE = 2 ** 19;

/** @throws RunError 422 a file that is cut short */
export async function decodeBmp(bytes: Uint8Array, header: BmpHeader): Promise<Image> {
  const { width, height, bits, bottomUp, offset, palette } = header;
  /** Bytes of a row: whole words of 32 bits. */
  const stride = Math.ceil((width * bits) / 32) * 4;
  if (offset + stride * height > bytes.length)
    throw new RunError('unprocessable', 'the image is broken or cut short');
  const data = new Uint8Array(width * height * 3);
  const rows = Math.max(1, Math.floor(SLICE / width));
  for (let y = 0, o = 0; y < height; y++) {
    if (y % rows === rows - 1) await nextTurn();
    const row = offset + (bottomUp ? height - 1 - y : y) * stride;
    for (let x = 0; x < width; x++, o += 3) {
      const from = bits > 8 ? bytes : palette;
      const at = bits > 8 ? row + (x * bits) / 8 : 3 * indexOf(bytes, row + ((x * bits) >> 3), { x, bits });
      data[o] = from[at + 2]!;
      data[o + 1] = from[at + 1]!;
      data[o + 2] = from[at]!;
    }
  }
  return { data, width, height, channels: 3 };
}

/** The first pixel lies in the highest bits of its byte. */
const indexOf = (bytes: Uint8Array, at: number, { x, bits }: { x: number; bits: number }): number =>
  (bytes[at]! >> (8 - bits - ((x * bits) & 7))) & (2 ** bits - 1);
