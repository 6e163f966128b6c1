/** Weights of separable resampling filters with antialias, as fixed-point numbers. */

export interface Filter {
  support: number;
  weight: (x: number) => number;
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** PIL.Image.Resampling by number; 0 (nearest) picks pixels instead of filtering. */
const FILTERS: Record<number, Filter> = {
  1: { support: 3, weight: (x) => (x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0) },
  2: { support: 1, weight: (x) => Math.max(0, 1 - Math.abs(x)) },
  3: { support: 2, weight: bicubic },
  4: { support: 0.5, weight: (x) => (x > -0.5 && x <= 0.5 ? 1 : 0) },
  5: {
    support: 1,
    weight: (x) => {
      const a = Math.abs(x);
      if (a === 0) return 1;
      return a >= 1 ? 0 : sinc(a) * (0.54 + 0.46 * Math.cos(Math.PI * a));
    },
  },
};

/** Keys' cubic with a = -0.5. */
function bicubic(value: number): number {
  const x = Math.abs(value);
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

/** @param resample PIL.Image.Resampling number, but for 0, which is no filter */
export function filterOf(resample: number): Filter {
  const filter = FILTERS[resample];
  if (!filter) throw new RangeError(`unknown resampling filter ${resample}`);
  return filter;
}

/** Which samples each target sample is made of. */
export interface Reach {
  /** First source sample of each target sample. */
  first: Int32Array;
  /** Number of source samples of each target sample. */
  count: Int32Array;
  /** Weights, `size` per target sample; those of one sum to 1. */
  shares: Float64Array;
  size: number;
}

export interface Taps extends Omit<Reach, 'shares'> {
  /** Fixed-point weights, `size` per target sample. */
  weights: Int32Array;
  /** Their binary digits after the point. */
  precision: number;
}

/** How many binary digits the weights get, by the greatest of them. */
export type Arithmetic = (greatest: number) => number;

/** 8 bits of sample and 2 of head-room are left in 32. */
export const PILLOW: Arithmetic = () => 22;

/** As many as keep the greatest weight within 16 bits, but no more than Pillow has (PyTorch 2.8, UpSampleKernel.cpp). */
export const TORCH: Arithmetic = (greatest) => {
  let precision = 0;
  while (precision < 22 && Math.trunc(0.5 + greatest * 2 ** (precision + 1)) < 2 ** 15) precision++;
  return precision;
};

/** Of so many places, without a share yet. @param size most samples of a place */
export const emptyReach = (target: number, size: number): Reach => ({
  first: new Int32Array(target),
  count: new Int32Array(target),
  shares: new Float64Array(target * size),
  size,
});

/** @param span what the target shows of the source, from its first sample on; not always a whole number */
export function reachOf(source: number, target: number, filter: Filter, span = source): Reach {
  const scale = span / target;
  const stretch = Math.max(scale, 1);
  const support = filter.support * stretch;
  const size = Math.ceil(support) * 2 + 1;
  const reach = emptyReach(target, size);
  for (let at = 0; at < target; at++) {
    const center = (at + 0.5) * scale;
    const first = Math.max(0, Math.trunc(center - support + 0.5));
    const count = Math.min(source, Math.trunc(center + support + 0.5)) - first;
    const raw = Array.from({ length: count }, (_, i) => filter.weight((i + first - center + 0.5) / stretch));
    const sum = raw.reduce((a, b) => a + b, 0);
    raw.forEach((weight, i) => {
      reach.shares[at * size + i] = sum === 0 ? weight : weight / sum;
    });
    reach.first[at] = first;
    reach.count[at] = count;
  }
  return reach;
}

/** Fixed-point weights of what `reachOf` finds. */
export function tapsOf(
  lengths: { source: number; target: number; span?: number },
  filter: Filter,
  arithmetic: Arithmetic,
): Taps {
  return fixedTaps(reachOf(lengths.source, lengths.target, filter, lengths.span), arithmetic);
}

export function fixedTaps({ shares, ...reach }: Reach, arithmetic: Arithmetic): Taps {
  const precision = arithmetic(shares.reduce((greatest, share) => Math.max(greatest, share), 0));
  const weights = Int32Array.from(shares, (share) =>
    Math.trunc((share < 0 ? -0.5 : 0.5) + share * 2 ** precision),
  );
  return { ...reach, weights, precision };
}
