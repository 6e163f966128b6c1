const offsetOf = (unit: number): number => (unit >>> 10) << ((unit & (1 << 9)) >>> 6);

/** Longest keys of published tables have some forty bytes. */
const MOST_UNITS = 64;

/**
 * Looks up what a text has at a place in the table of characters that a model of sentencepiece holds: how many UTF-16
 * units the longest entry takes, and what stands for them.
 * @param charsMap as readModel has checked it; empty: no entries
 */
export function longestPrefix(
  charsMap: Uint8Array,
): (text: string, at: number) => [length: number, fresh: string] | undefined {
  if (charsMap.length === 0) return () => undefined;
  const bytes = Buffer.from(charsMap.buffer, charsMap.byteOffset, charsMap.length);
  const size = bytes.readUInt32LE(0);
  const trie = Uint32Array.from({ length: size / 4 }, (_, i) => bytes.readUInt32LE(4 + i * 4));
  const replacements = bytes.subarray(4 + size);
  return (text, at) => {
    const key = Buffer.from(text.slice(at, at + MOST_UNITS));
    let node = offsetOf(trie[0]!);
    let found: [length: number, value: number] | undefined;
    for (const [i, byte] of key.entries()) {
      if (byte === 0) break;
      node ^= byte;
      const unit = trie[node] ?? 0;
      if ((unit & 0x800000ff) >>> 0 !== byte) break;
      node ^= offsetOf(unit);
      if ((unit >>> 8) & 1) found = [i + 1, trie[node]! & 0x7fffffff];
    }
    if (!found || found[1] >= replacements.length) return undefined;
    const [length, value] = found;
    const fresh = replacements.toString('utf8', value, replacements.indexOf(0, value));
    return [key.toString('utf8', 0, length).length, fresh];
  };
}
