import type { Perplexity, WrittenGraph } from '../../runtime/core/spec.js';
import { askProcess } from '../own-process.js';

/** The written graphs of a model, and the folder of their weights. */
export interface ProbedNetwork {
  graphs: readonly WrittenGraph[];
  folder: string;
}

/** Either how alike two networks compute, from -1 to 1, or why that was not measured. */
export type Likeness = Measured | { unmeasured: string };

export interface Measured {
  likeness: number;
  /** Of a decoder over bundled texts. */
  perplexity?: Perplexity;
}

/**
 * How alike two networks of the same graphs compute, found by a process of its own.
 * @throws BuilderError with what the process said when it fails
 */
export async function likenessOf(
  plain: ProbedNetwork,
  packed: ProbedNetwork,
  { packageRoot, env }: { packageRoot: string; env: Readonly<Record<string, string>> },
): Promise<Likeness> {
  const job = [plain, packed];
  const program = { packageRoot, env, script: 'compare-networks.js', subject: 'the packed network' };
  return (await askProcess(program, job)) as Likeness;
}
