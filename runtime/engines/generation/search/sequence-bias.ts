import type { Bias } from '../settings/settings.js';
import type { LogitsProcessor } from './logits-processor.js';

/** transformers' SequenceBiasLogitsProcessor. Of equal sequences the last one counts. */
export function sequenceBias(rows: readonly Bias[]): LogitsProcessor {
  const unique = [...new Map(rows.map((row) => [row[0].join(), row])).values()];
  const singles = new Map(unique.filter(([ids]) => ids.length === 1).map(([ids, bias]) => [ids[0]!, bias]));
  /** Longer ones by their last token but one, so that a step looks at few of them. */
  const longer = new Map<number, Bias[]>();
  for (const row of unique) {
    const previous = row[0].at(-2);
    if (previous === undefined) continue;
    const group = longer.get(previous) ?? [];
    longer.set(previous, group);
    group.push(row);
  }
  return (scores, ids) => {
    const sums = longer.size > 0 ? new Map(singles) : singles;
    for (const [sequence, bias] of longer.get(ids[ids.length - 1]!) ?? []) {
      const last = sequence.at(-1)!;
      if (completes(sequence, ids)) sums.set(last, Math.fround((sums.get(last) ?? 0) + bias));
    }
    for (const [id, bias] of sums) if (id < scores.length) scores[id]! += bias;
  };
}

/** True where the sequence, less its last token, is the end of `ids`. Shorter `ids` never match, as in Python. */
function completes(sequence: readonly number[], ids: ArrayLike<number>): boolean {
  if (sequence.length > ids.length) return false;
  const start = ids.length - (sequence.length - 1);
  for (let i = 0; i < sequence.length - 1; i++) if (ids[start + i] !== sequence[i]) return false;
  return true;
}
