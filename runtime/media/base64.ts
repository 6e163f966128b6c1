import { RunError } from '../core/errors.js';

const DATA_URL = /^data:([^,]*?)(;base64)?,/i;
const LETTERS = /^([A-Za-z0-9+/_-]*)(={0,2})$/;

/** Characters that are read in one go. */
const PIECE = 2 ** 20;

/** A text that comes in pieces, and how long it is at most. */
export interface TextPieces {
  length: number;
  pieces(): Iterable<string>;
}

/**
 * Bytes of a data URL or of bare Base64 (standard or URL-safe alphabet, padding optional, white space allowed).
 * @param pause awaited between pieces of a long text
 * @throws RunError 413 more than `maxBytes`, 422 not Base64
 */
export async function decodeBase64(
  value: string | TextPieces,
  maxBytes: number,
  pause: () => Promise<void> | undefined = () => undefined,
): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(Math.min(maxBytes, bytesIn(value.length)) + 4);
  let [size, padding, carry] = [0, 0, ''];
  const write = (letters: string) => {
    if (size + bytesIn(letters.length) > maxBytes + 3) throw mediaTooLarge(maxBytes);
    size += bytes.write(letters, size, 'base64');
  };
  let first = true;
  for (const piece of typeof value === 'string' ? piecesOf(value) : value.pieces()) {
    const found = LETTERS.exec((first ? withoutHead(piece) : piece).replace(/[\r\n\t ]+/g, ''));
    first = false;
    if (!found || (padding > 0 && found[1] !== '')) throw notBase64();
    padding += found[2]!.length;
    const letters = carry + found[1]!;
    const whole = letters.length - (letters.length % 4);
    write(letters.slice(0, whole));
    carry = letters.slice(whole);
    await pause();
  }
  write(carry);
  if (size > maxBytes) throw mediaTooLarge(maxBytes);
  if (padding > 2 || size + carry.length === 0) throw notBase64();
  return bytes.subarray(0, size);
}

function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += PIECE) yield text.slice(at, at + PIECE);
}

function withoutHead(piece: string): string {
  const head = DATA_URL.exec(piece.slice(0, 1000));
  if (head && !head[2])
    throw new RunError('unprocessable', 'base64: the data URL is not Base64 (no ";base64" in it)');
  return piece.slice(head?.[0].length ?? 0);
}

function bytesIn(letters: number): number {
  return Math.floor((letters * 3) / 4);
}

function notBase64(): RunError {
  return new RunError('unprocessable', 'base64: is neither Base64 nor a data URL');
}

export function mediaTooLarge(maxBytes: number): RunError {
  return new RunError('payload_too_large', `the file is larger than ${maxBytes} bytes (MAX_MEDIA_BYTES)`);
}
