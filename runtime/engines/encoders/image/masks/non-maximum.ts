/** First and last pixel of a mask along each axis. */
export interface PixelBox {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface ScoredBox {
  score: number;
  box: PixelBox;
}

/**
 * Non-maximum suppression as torchvision does it: the best first, and no box whose overlap with a better one exceeds
 * `threshold`. Areas don't count the last pixel.
 */
export function suppressOverlaps<T extends ScoredBox>(candidates: readonly T[], threshold: number): T[] {
  const sorted = candidates.toSorted((a, b) => b.score - a.score);
  const kept: T[] = [];
  for (const candidate of sorted)
    if (kept.every(({ box }) => overlap(box, candidate.box) <= threshold)) kept.push(candidate);
  return kept;
}

const area = ({ left, top, right, bottom }: PixelBox): number => (right - left) * (bottom - top);

function overlap(a: PixelBox, b: PixelBox): number {
  const width = Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left));
  const height = Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  const common = Math.fround(width * height);
  // Two boxes without area have none in common: not a number, which exceeds nothing.
  const ratio = Math.fround(common / Math.fround(area(a) + area(b) - common));
  return Number.isNaN(ratio) ? 0 : ratio;
}
