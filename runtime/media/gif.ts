/** Bytes of a GIF up to its global palette. */
const HEADER = 13;
const [EXTENSION, CONTROL] = [0x21, 0xf9];

/**
 * The same GIF without transparency in its first frame: Python drops transparency and shows the palette's colour, which
 * the decoder would have made black.
 */
export function opaqueGif(bytes: Uint8Array): Uint8Array {
  const at = firstControl(bytes);
  if (at === undefined || (bytes[at]! & 1) === 0) return bytes;
  const opaque = Uint8Array.from(bytes);
  opaque[at]! &= ~1;
  return opaque;
}

/** Where the flags of the first frame are; undefined where it has none. */
function firstControl(bytes: Uint8Array): number | undefined {
  const flags = bytes[10] ?? 0;
  let at = HEADER + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  while (bytes[at] === EXTENSION) {
    if (bytes[at + 1] === CONTROL) return at + 3;
    at += 2;
    // Blocks of an extension, each with its length before it; one of length 0 ends them.
    while (at < bytes.length && bytes[at] !== 0) at += bytes[at]! + 1;
    at++;
  }
  return undefined;
}
