import * as z from 'zod';

const amount = z.number().nonnegative();

const row = z.strictObject({
  /** UTC, e.g. `2026-11-22`. */
  day: z.iso.date(),
  /** Id of the key. */
  key: z.string().min(1),
  model: z.string().min(1),
  /** Who counted it: this gateway, or a container that reports to it. */
  source: z.enum(['gateway', 'container']),
  calls: amount,
  /** Calls that ended with a status of 400 or above. */
  errors: amount,
  coldStarts: amount,
  /** Time that a server was leased, or a container worked. */
  seconds: amount,
  /** Dollars. */
  cost: amount,
  /** Tokens read and written, where models count them. Absent from rows of earlier versions. */
  tokensIn: amount.default(0),
  tokensOut: amount.default(0),
});

/** What one key has used of one model on one day. */
export type UsageRow = z.output<typeof row>;

const AMOUNTS = ['calls', 'errors', 'coldStarts', 'seconds', 'cost', 'tokensIn', 'tokensOut'] as const;

export type UsageAmounts = Pick<UsageRow, (typeof AMOUNTS)[number]>;

export const NO_USAGE: Readonly<UsageAmounts> = Object.freeze({
  ...{ calls: 0, errors: 0, coldStarts: 0, seconds: 0, cost: 0, tokensIn: 0, tokensOut: 0 },
});

/** Parses a line of the file; undefined for an invalid one, such as an incomplete line. */
export function parseRow(line: string): UsageRow | undefined {
  try {
    return row.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Sums by day, key, model and source. */
export interface UsageSums {
  add(row: UsageRow): void;
  rows(): UsageRow[];
  readonly size: number;
}

export function createSums(): UsageSums {
  const sums = new Map<string, UsageRow>();
  return {
    add(row) {
      const sumKey = JSON.stringify([row.day, row.key, row.model, row.source]);
      const sum = sums.get(sumKey);
      if (sum) addTo(sum, row);
      else sums.set(sumKey, { ...row });
    },
    rows: () => [...sums.values()],
    get size() {
      return sums.size;
    },
  };
}

export function addTo(sum: UsageAmounts, more: UsageAmounts): void {
  for (const name of AMOUNTS) sum[name] += more[name];
}
