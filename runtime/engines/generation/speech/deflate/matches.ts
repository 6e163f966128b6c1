/** A byte as it is, or so many bytes of those that stand `distance` before. */
export type DeflateSymbol = number | { length: number; distance: number };

/** Level 6 of zlib's configuration_table. */
const [GOOD_LENGTH, MAX_LAZY, NICE_LENGTH, MAX_CHAIN] = [8, 16, 128, 128];
const [MIN_MATCH, MAX_MATCH] = [3, 258];
/** Window size less the look-ahead that zlib keeps. */
const MAX_DISTANCE = 32768 - (MAX_MATCH + MIN_MATCH + 1);
/** A match of three bytes that lies farther back costs more than the bytes. */
const TOO_FAR = 4096;
const [HASH_SHIFT, HASH_MASK] = [5, 0x7fff];

/** The symbols that zlib's deflate writes at its default level (deflate_slow, with lazy evaluation of matches). */
export function deflateSymbols(bytes: Uint8Array): DeflateSymbol[] {
  const symbols: DeflateSymbol[] = [];
  const finder = createMatchFinder(bytes);
  let [matchLength, matchStart] = [MIN_MATCH - 1, 0];
  let pending = false;
  for (let at = 0; at < bytes.length; at++) {
    const head = finder.insert(at);
    const previous = { length: matchLength, start: matchStart };
    matchLength = MIN_MATCH - 1;
    if (head > 0 && previous.length < MAX_LAZY && at - head <= MAX_DISTANCE) {
      const found = finder.longest(at, { head, above: previous.length });
      matchStart = found.start;
      if (found.length !== MIN_MATCH || at - found.start <= TOO_FAR) matchLength = found.length;
    }
    if (previous.length >= MIN_MATCH && matchLength <= previous.length) {
      symbols.push({ length: previous.length, distance: at - 1 - previous.start });
      const next = at + previous.length - 2;
      while (at < next) finder.insert(++at);
      matchLength = MIN_MATCH - 1;
      pending = false;
    } else {
      if (pending) symbols.push(bytes[at - 1]!);
      pending = true;
    }
  }
  if (pending) symbols.push(bytes.at(-1)!);
  return symbols;
}

/** Chains of positions whose next three bytes have the same hash. Place 0 stands for none, as in zlib: it is never matched. */
function createMatchFinder(bytes: Uint8Array) {
  const heads = new Int32Array(HASH_MASK + 1);
  const before = new Int32Array(bytes.length);
  const hashAt = (at: number) =>
    ((bytes[at]! << (2 * HASH_SHIFT)) ^ (bytes[at + 1]! << HASH_SHIFT) ^ bytes[at + 2]!) & HASH_MASK;
  return {
    /** Returns the last position with the same hash. */
    insert(at: number): number {
      if (at + MIN_MATCH > bytes.length) return 0;
      const hash = hashAt(at);
      const head = heads[hash]!;
      before[at] = head;
      heads[hash] = at;
      return head;
    },
    /** The first longest match of more than `above` bytes; `above` where there is none. */
    longest(at: number, { head, above }: { head: number; above: number }): { length: number; start: number } {
      const left = Math.min(MAX_MATCH, bytes.length - at);
      const enough = Math.min(NICE_LENGTH, left);
      const limit = Math.max(0, at - MAX_DISTANCE);
      let chain = above >= GOOD_LENGTH ? MAX_CHAIN >> 2 : MAX_CHAIN;
      let best = { length: above, start: 0 };
      for (let start = head; start > limit && chain > 0; start = before[start]!, chain--) {
        let length = 0;
        while (length < left && bytes[start + length] === bytes[at + length]) length++;
        if (length <= best.length) continue;
        best = { length, start };
        if (length >= enough) break;
      }
      return { length: Math.min(best.length, left), start: best.start };
    },
  };
}
