import { type AlignedText, type Change, transform } from './aligned-text.js';
import { graphemes } from './graphemes.js';

/**
 * The character map that SentencePiece compiles into a model (normalizer `Precompiled`): a double-array trie from
 * UTF-8 byte sequences to positions in a block of zero-terminated replacements.
 */
export function precompiledNormalizer(charsmap: string): (value: AlignedText) => AlignedText {
  const bytes = Buffer.from(charsmap, 'base64');
  if (bytes.length < 4) return (value) => value;
  const trieSize = bytes.readUInt32LE(0);
  const trie = Uint32Array.from({ length: trieSize / 4 }, (_, i) => bytes.readUInt32LE(4 + i * 4));
  const replacements = bytes.subarray(4 + trieSize);

  /** The replacement of the shortest prefix that the map knows; undefined where it knows none. */
  const replacementOf = remembered((part) => {
    const found = shortestPrefix(trie, Buffer.from(part));
    if (found === undefined) return undefined;
    return replacements.toString('utf8', found, replacements.indexOf(0, found));
  });

  const untouched = runsOf(PRINTABLE.filter((char) => replacementOf(char) === undefined));

  /** Old stretches and what stands for them; undefined: they stay. */
  function* rewritten(text: string): Generator<Stretch> {
    let done = 0;
    for (const { index, 0: run } of text.matchAll(untouched)) {
      yield* lookedUp(text.slice(done, index));
      yield [run, undefined];
      done = index + run.length;
    }
    yield* lookedUp(text.slice(done));
  }

  function* lookedUp(text: string): Generator<Stretch> {
    for (const segment of graphemes(text)) {
      // A whole grapheme is looked up only while it is short, as the Rust library does.
      const whole = Buffer.byteLength(segment) < 6 ? replacementOf(segment) : undefined;
      if (whole !== undefined) yield [segment, whole];
      else for (const char of segment) yield [char, replacementOf(char)];
    }
  }

  return (value) => {
    if (value.origins) return transform(value, changesOf(rewritten(value.text)));
    let text = '';
    for (const [old, fresh] of rewritten(value.text)) text += fresh ?? old;
    return { ...value, text };
  };
}

/** Most texts use few characters. */
const MOST_REMEMBERED = 10_000;

function remembered(find: (part: string) => string | undefined): (part: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (part) => {
    const value = known.get(part);
    if (value !== undefined || known.has(part)) return value;
    if (known.size >= MOST_REMEMBERED) known.clear();
    const found = find(part);
    known.set(part, found);
    return found;
  };
}

type Stretch = [old: string, fresh: string | undefined];

const PRINTABLE = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i));

/**
 * Finds runs of these ASCII characters, each a grapheme by itself: most of most texts need no look into the map. The
 * last character before others is left out, since an accent may follow.
 */
function runsOf(chars: readonly string[]): RegExp {
  const set = chars.map((char) => `\\x${char.charCodeAt(0).toString(16)}`).join('');
  return new RegExp(`[${set}]+(?=[\\x20-\\x7e]|$)`, 'g');
}

/** As the Rust library has it: what vanishes at the very beginning shifts all that follows. */
function changesOf(stretches: Iterable<Stretch>): Change[] {
  const changes: [string, number][] = [];
  for (const [old, fresh] of stretches) {
    const chars = Array.from(fresh ?? old);
    const more = chars.length - Array.from(old).length;
    chars.forEach((char, i) => changes.push([char, i >= chars.length - more ? 1 : 0]));
    const last = changes.at(-1);
    if (more < 0 && last) last[1] += more;
  }
  return changes;
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
