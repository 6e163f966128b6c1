import { type Tensors, rawFloats } from '../sessions/tensors.js';

/** Computes rows in one run; gives their results in the same order. */
export type Compute<Row> = (rows: Row[]) => Promise<Tensors[]>;

/** Differences that come from another order of summation; kernels that mix rows differ a hundred times more. */
const TOLERANCE: Record<string, number> = { float32: 2e-4, float16: 4e-3 };

/** Whether rows that share a run get the answers that they get alone. */
export async function agreeTogether<Row>(compute: Compute<Row>, rows: Row[]): Promise<boolean> {
  const together = await compute(rows);
  for (const [i, row] of rows.entries()) {
    const [alone] = await compute([row]);
    if (!Object.keys(alone!).every((name) => near(alone![name]!, together[i]![name]!))) return false;
  }
  return true;
}

function near(one: Tensors[string], other: Tensors[string]): boolean {
  const tolerance = TOLERANCE[one.type];
  if (tolerance === undefined) return true;
  const [a, b] = [rawFloats(one), rawFloats(other)];
  const largest = a.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return a.length === b.length && a.every((value, i) => Math.abs(value - b[i]!) <= tolerance * largest);
}
