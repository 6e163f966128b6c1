import { codeLengths, type CodeLengths, type TreeKind } from './huffman.js';
import { type DeflateSymbol, deflateSymbols } from './matches.js';

const LITERALS: TreeKind = { size: 286, maxBits: 15 };
const DISTANCES: TreeKind = { size: 30, maxBits: 15 };
const LENGTHS: TreeKind = { size: 19, maxBits: 7 };

const END_OF_BLOCK = 256;
/** Most symbols of a block at the default memory level. */
const BLOCK_SYMBOLS = 2 ** 14 - 1;
/** Bits before the symbols of any block. */
const BLOCK_HEADER = 3;
/** Bytes around the blocks: zlib's header and checksum. */
const WRAPPER = 6;

/**
 * Bytes of what zlib's compress() makes of some bytes at its default level, as Python has it. Node.js's own zlib takes other
 * matches, and its sizes differ by up to a sixth. Exact for up to 32 KiB.
 */
export function deflatedSize(bytes: Uint8Array): number {
  const symbols = deflateSymbols(bytes);
  let bits = 0;
  for (let from = 0; from === 0 || from < symbols.length; from += BLOCK_SYMBOLS) {
    bits = addBlock(bits, symbols.slice(from, from + BLOCK_SYMBOLS));
  }
  return WRAPPER + Math.ceil(bits / 8);
}

/** Bits with those of a block, which is written in the shortest of three ways (_tr_flush_block). */
function addBlock(before: number, symbols: readonly DeflateSymbol[]): number {
  const { literals, distances, extraBits, bytes } = countSymbols(symbols);
  const fixed = sumBits(literals, fixedBits) + sumBits(distances, () => 5) + extraBits;
  const trees = [codeLengths(literals, LITERALS), codeLengths(distances, DISTANCES)] as const;
  const dynamic =
    sumBits(literals, (i) => trees[0].bits[i]!) +
    sumBits(distances, (i) => trees[1].bits[i]!) +
    extraBits +
    treeBits(trees);
  const inBytes = (bits: number) => Math.ceil((bits + BLOCK_HEADER) / 8);
  const shortest = inBytes(fixed) <= inBytes(dynamic) ? fixed : dynamic;
  if (bytes + 4 > inBytes(shortest)) return before + BLOCK_HEADER + shortest;
  return Math.ceil((before + BLOCK_HEADER) / 8) * 8 + (bytes + 4) * 8;
}

function sumBits(counts: Int32Array, bitsOf: (symbol: number) => number): number {
  return counts.reduce((sum, count, symbol) => sum + count * bitsOf(symbol), 0);
}

const fixedBits = (symbol: number): number => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8);

function countSymbols(symbols: readonly DeflateSymbol[]) {
  const literals = new Int32Array(LITERALS.size);
  const distances = new Int32Array(DISTANCES.size);
  literals[END_OF_BLOCK] = 1;
  let [extraBits, bytes] = [0, 0];
  for (const symbol of symbols) {
    if (typeof symbol === 'number') {
      literals[symbol]!++;
      bytes++;
      continue;
    }
    const [length, distance] = [lengthCode(symbol.length), distanceCode(symbol.distance)];
    literals[END_OF_BLOCK + 1 + length.code]!++;
    distances[distance.code]!++;
    extraBits += length.extra + distance.extra;
    bytes += symbol.length;
  }
  return { literals, distances, extraBits, bytes };
}

interface Code {
  code: number;
  extra: number;
}

/** RFC 1951, 3.2.5: four codes for each number of extra bits; the longest match has a code of its own. */
function lengthCode(length: number): Code {
  if (length === 258) return { code: 28, extra: 0 };
  const offset = length - 3;
  if (offset < 8) return { code: offset, extra: 0 };
  const extra = 31 - Math.clz32(offset) - 2;
  return { code: extra * 4 + (offset >> extra), extra };
}

/** Two codes for each number of extra bits. */
function distanceCode(distance: number): Code {
  const offset = distance - 1;
  if (offset < 4) return { code: offset, extra: 0 };
  const extra = 31 - Math.clz32(offset) - 1;
  return { code: extra * 2 + (offset >> extra), extra };
}

/** The order in which lengths of codes of lengths are written: the last ones may be left out. */
const LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/** Repeat the last length, zeros, many zeros. */
const REPEATS = { 16: 2, 17: 3, 18: 7 } as const;

/** Bits of the two trees, whose lengths are run-length coded and coded again. */
function treeBits(trees: readonly CodeLengths[]): number {
  const counts = new Int32Array(LENGTHS.size);
  for (const { bits, last } of trees) countRuns(bits.subarray(0, last + 1), counts);
  const { bits } = codeLengths(counts, LENGTHS);
  const written = Math.max(4, LENGTH_ORDER.findLastIndex((symbol) => bits[symbol]! > 0) + 1);
  const extra = Object.entries(REPEATS).reduce(
    (sum, [symbol, size]) => sum + counts[Number(symbol)]! * size,
    0,
  );
  return sumBits(counts, (symbol) => bits[symbol]!) + extra + 3 * written + 5 + 5 + 4;
}

/** Counts the symbols that lengths are written with (scan_tree). */
function countRuns(lengths: Int32Array, counts: Int32Array): void {
  let [previous, count] = [-1, 0];
  const boundsOf = (next: number | undefined, current: number) =>
    next === 0 ? { most: 138, least: 3 } : next === current ? { most: 6, least: 3 } : { most: 7, least: 4 };
  let bounds = boundsOf(lengths[0], -1);
  for (let i = 0; i < lengths.length; i++) {
    const [current, next] = [lengths[i]!, lengths[i + 1]];
    if (++count < bounds.most && current === next) continue;
    if (count < bounds.least) counts[current]! += count;
    else if (current === 0) counts[count <= 10 ? 17 : 18]!++;
    else {
      if (current !== previous) counts[current]!++;
      counts[16]!++;
    }
    count = 0;
    previous = current;
    bounds = boundsOf(next, current);
  }
}
