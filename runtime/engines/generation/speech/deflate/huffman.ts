/** The kinds of code trees that deflate has. */
export interface TreeKind {
  /** Symbols of the alphabet. */
  size: number;
  /** Longest code in bits. */
  maxBits: number;
}

export interface CodeLengths {
  /** Bits of each symbol's code; 0: does not occur. */
  bits: Int32Array;
  /** The last symbol that occurs. */
  last: number;
}

interface Tree {
  /** How often symbols, then inner nodes, occur. */
  counts: Int32Array;
  parents: Int32Array;
  /** Symbols and nodes in the order in which they were joined, the last ones first. */
  order: number[];
  last: number;
}

/** The lengths of the Huffman codes that zlib gives to symbols that occur so often (build_tree, gen_bitlen of trees.c). */
export function codeLengths(counts: ArrayLike<number>, kind: TreeKind): CodeLengths {
  const tree = joinNodes(counts, kind.size);
  const bits = new Int32Array(2 * kind.size + 1);
  const perLength = new Int32Array(kind.maxBits + 1);
  let overflow = 0;
  for (const node of tree.order.slice(1)) {
    bits[node] = bits[tree.parents[node]!]! + 1;
    if (bits[node] > kind.maxBits) {
      bits[node] = kind.maxBits;
      overflow++;
    }
    if (node < kind.size) perLength[bits[node]]!++;
  }
  if (overflow > 0) shorten({ tree, bits, perLength, overflow }, kind);
  return { bits: bits.slice(0, kind.size), last: tree.last };
}

/** Joins the two rarest nodes until one is left. */
function joinNodes(given: ArrayLike<number>, size: number): Tree {
  const counts = new Int32Array(2 * size + 1);
  const depths = new Int32Array(2 * size + 1);
  const parents = new Int32Array(2 * size + 1);
  const heap: number[] = [];
  let last = -1;
  for (let symbol = 0; symbol < size; symbol++) {
    counts[symbol] = given[symbol]!;
    if (counts[symbol]! > 0) heap.push((last = symbol));
  }
  // A tree has two codes at least.
  while (heap.length < 2) {
    const symbol = last < 2 ? ++last : 0;
    counts[symbol] = 1;
    heap.push(symbol);
  }
  const isBefore = (a: number, b: number) =>
    counts[a]! < counts[b]! || (counts[a] === counts[b] && depths[a]! <= depths[b]!);
  for (let i = heap.length >> 1; i >= 1; i--) sink(heap, i, isBefore);
  const joined: number[] = [];
  for (let node = size; heap.length >= 2; node++) {
    const first = heap[0]!;
    const end = heap.pop()!;
    heap[0] = end;
    sink(heap, 1, isBefore);
    const second = heap[0];
    joined.push(first, second);
    counts[node] = counts[first]! + counts[second]!;
    depths[node] = Math.max(depths[first]!, depths[second]!) + 1;
    parents[first] = parents[second] = node;
    heap[0] = node;
    sink(heap, 1, isBefore);
  }
  return { counts, parents, order: [...joined, heap[0]!].toReversed(), last };
}

/** Moves the entry at `place`, from 1 on, down to where it belongs. */
function sink(heap: number[], place: number, isBefore: (a: number, b: number) => boolean): void {
  const value = heap[place - 1]!;
  for (let child = place * 2; child <= heap.length; child = place * 2) {
    if (child < heap.length && isBefore(heap[child]!, heap[child - 1]!)) child++;
    if (isBefore(value, heap[child - 1]!)) break;
    heap[place - 1] = heap[child - 1]!;
    place = child;
  }
  heap[place - 1] = value;
}

interface Overlong {
  tree: Tree;
  bits: Int32Array;
  /** Symbols with codes of each length. */
  perLength: Int32Array;
  overflow: number;
}

/** Gives shorter codes where some were too long. */
function shorten({ tree, bits, perLength, overflow }: Overlong, { size, maxBits }: TreeKind): void {
  for (let over = overflow; over > 0; over -= 2) {
    let length = maxBits - 1;
    while (perLength[length] === 0) length--;
    perLength[length]!--;
    perLength[length + 1]! += 2;
    perLength[maxBits]!--;
  }
  const symbols = tree.order.filter((node) => node < size).toReversed();
  let next = 0;
  for (let length = maxBits; length > 0; length--) {
    for (let left = perLength[length]!; left > 0; left--) bits[symbols[next++]!] = length;
  }
}
