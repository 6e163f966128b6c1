/**
 * The character map that SentencePiece compiles into a model (normalizer `Precompiled`): a double-array trie from
 * UTF-8 byte sequences to positions in a block of zero-terminated replacements.
 */
export function precompiledNormalizer(charsmap: string): (text: string) => string {
  const bytes = Buffer.from(charsmap, 'base64');
  if (bytes.length < 4) return (text) => text;
  const trieSize = bytes.readUInt32LE(0);
  const trie = Uint32Array.from({ length: trieSize / 4 }, (_, i) => bytes.readUInt32LE(4 + i * 4));
  const replacements = bytes.subarray(4 + trieSize);
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

  /** The replacement of the shortest prefix that the map knows; undefined where it knows none. */
  const replacementOf = (part: string): string | undefined => {
    const found = shortestPrefix(trie, Buffer.from(part));
    if (found === undefined) return undefined;
    return replacements.toString('utf8', found, replacements.indexOf(0, found));
  };

  return (text) => {
    let out = '';
    for (const { segment } of segmenter.segment(text)) {
      // A whole grapheme is looked up only while it is short, as the Rust library does.
      const whole = Buffer.byteLength(segment) < 6 ? replacementOf(segment) : undefined;
      out += whole ?? Array.from(segment, (char) => replacementOf(char) ?? char).join('');
    }
    return out;
  };
}

const offsetOf = (unit: number): number => (unit >>> 10) << ((unit & (1 << 9)) >>> 6);

/** Value of the first leaf on the way of `key` through the trie. */
function shortestPrefix(trie: Uint32Array, key: Uint8Array): number | undefined {
  let node = offsetOf(trie[0]!);
  for (const byte of key) {
    if (byte === 0) return undefined;
    node ^= byte;
    const unit = trie[node] ?? 0;
    // The label of a unit is its low byte; bit 31 marks values, which no byte equals.
    if ((unit & 0x800000ff) >>> 0 !== byte) return undefined;
    node ^= offsetOf(unit);
    if ((unit >>> 8) & 1) return trie[node]! & 0x7fffffff;
  }
  return undefined;
}
