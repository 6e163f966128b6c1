/** Of vectors of length 1. */
const cosine = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
};

/** Places of values when they are sorted; equal ones share the middle of theirs. */
function ranks(values: readonly number[]): Float32Array {
  const order = [...values.keys()].sort((a, b) => values[a]! - values[b]!);
  const found = new Float32Array(values.length);
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to < order.length && values[order[to]!] === values[order[from]!]) to++;
    for (let i = from; i < to; i++) found[order[i]!] = (from + to - 1) / 2;
    from = to;
  }
  return found;
}

/** Spearman's correlation: Pearson's of the ranks. */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranks(a), ranks(b)];
  const middle = (a.length - 1) / 2;
  let [product, squaresX, squaresY] = [0, 0, 0];
  x.forEach((rank, i) => {
    product += (rank - middle) * (y[i]! - middle);
    squaresX += (rank - middle) ** 2;
    squaresY += (y[i]! - middle) ** 2;
  });
  return product / Math.sqrt(squaresX * squaresY);
}

type Vectors = readonly ArrayLike<number>[];

const pairs = (vectors: Vectors): number[] =>
  vectors.flatMap((one, i) => vectors.slice(i + 1).map((other) => cosine(one, other)));

function nearest(vectors: Vectors, of: number): number {
  const likeness = vectors.map((other, i) => (i === of ? -Infinity : cosine(vectors[of]!, other)));
  return likeness.indexOf(Math.max(...likeness));
}

/** How vectors of the same texts are like those of the reference, all of length 1. */
export function vectorLikeness(found: Vectors, reference: Vectors) {
  const cosines = found.map((vector, i) => cosine(vector, reference[i]!));
  return {
    least: Math.min(...cosines),
    mean: cosines.reduce((a, b) => a + b, 0) / cosines.length,
    ranks: rankCorrelation(pairs(found), pairs(reference)),
    sameNearest: found.filter((_, i) => nearest(found, i) === nearest(reference, i)).length,
  };
}
