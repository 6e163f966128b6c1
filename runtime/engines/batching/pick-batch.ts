export interface BatchLimits {
  /** Most tokens of a run, padding included. A longer row runs alone. */
  tokens: number;
  /** Largest share of a run that may be padding, 0 to 1. 0: rows of one length only. */
  padding: number;
}

interface Waiting {
  length: number;
  /** Only rows of one group share a run. */
  group?: number | string | undefined;
}

/** Rows further back than this wait for their turn unseen. */
const HORIZON = 1024;

/**
 * The oldest row of a queue, and those nearest to it in length that fit into one run. The oldest is always there, so
 * nobody starves; neighbours in length pad little.
 * @param queue by arrival, not empty
 */
export function pickBatch<T extends Waiting>(queue: readonly T[], limits: BatchLimits): T[] {
  const oldest = queue[0]!;
  const sorted = queue
    .slice(0, HORIZON)
    .filter(({ group }) => group === oldest.group)
    .sort((a, b) => a.length - b.length);
  let low = sorted.indexOf(oldest);
  let high = low;
  let tokens = oldest.length;
  const fits = (row: T | undefined): boolean => {
    if (!row) return false;
    const padded = (high - low + 2) * Math.max(sorted[high]!.length, row.length);
    return padded <= limits.tokens && padded - tokens - row.length <= limits.padding * padded;
  };
  for (;;) {
    const [shorter, longer] = [sorted[low - 1], sorted[high + 1]];
    const nearer = distance(longer, oldest) <= distance(shorter, oldest) ? longer : shorter;
    const chosen = fits(nearer) ? nearer : [shorter, longer].find(fits);
    if (!chosen) return sorted.slice(low, high + 1);
    tokens += chosen.length;
    if (chosen === longer) high++;
    else low--;
  }
}

function distance(row: Waiting | undefined, oldest: Waiting): number {
  return row ? Math.abs(row.length - oldest.length) : Infinity;
}
