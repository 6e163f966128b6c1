import { type AlignedText, rewrite } from './aligned-text.js';

/** GPT-2's alphabet: one printable character per byte. */
const CHARACTER_OF: readonly string[] = alphabet();
const BYTE_OF: ReadonlyMap<string, number> = new Map(CHARACTER_OF.map((char, byte) => [char, byte]));

/** Bytes that stand for themselves; the others get characters from U+0100 on. */
function alphabet(): string[] {
  const printable = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : next++));
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** A text as the characters of its UTF-8 bytes. */
function byteCharacters(text: string): string {
  let out = '';
  for (const byte of ENCODER.encode(text)) out += CHARACTER_OF[byte]!;
  return out;
}

/** As byteCharacters; every byte comes from its character. */
export function byteLevelText(value: AlignedText): AlignedText {
  if (value.origins) return rewrite(value, /[^!-~]/gu, byteCharacters);
  return { ...value, text: byteCharacters(value.text) };
}

/** Bytes of a token of the alphabet; a token with any other character stands for its own UTF-8 bytes. */
export function bytesOfToken(token: string): number[] {
  const bytes: number[] = [];
  for (const char of token) {
    const byte = BYTE_OF.get(char);
    if (byte === undefined) return [...ENCODER.encode(token)];
    bytes.push(byte);
  }
  return bytes;
}

/** UTF-8 to text; each broken sequence becomes U+FFFD. */
export function decodeUtf8(bytes: readonly number[]): string {
  return DECODER.decode(Uint8Array.from(bytes));
}
