import { RunError } from '../core/errors.js';

const DATA_URL = /^data:([^,]*?)(;base64)?,/i;

/**
 * Bytes of a data URL or of bare Base64 (standard or URL-safe alphabet, padding optional, white space allowed).
 * @throws RunError 413 more than `maxBytes`, 422 not Base64
 */
export function decodeBase64(value: string, maxBytes: number): Uint8Array {
  const head = DATA_URL.exec(value.slice(0, 1000));
  if (head && !head[2])
    throw new RunError('unprocessable', 'base64: the data URL is not Base64 (no ";base64" in it)');
  const text = value.slice(head?.[0].length ?? 0).replace(/[\r\n\t ]+/g, '');
  if ((text.length * 3) / 4 > maxBytes + 3) throw tooLarge(maxBytes);
  if (text === '' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) {
    throw new RunError('unprocessable', 'base64: is neither Base64 nor a data URL');
  }
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  return bytes;
}

export function tooLarge(maxBytes: number): RunError {
  return new RunError('payload_too_large', `the file is larger than ${maxBytes} bytes (MAX_MEDIA_BYTES)`);
}
