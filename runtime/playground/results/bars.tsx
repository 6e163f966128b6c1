import { isNumber, percent, type Row, rowsOf, isRow } from './guards.js';
import type { Shown } from './result.js';

interface Bar {
  label: string;
  score: number | undefined;
}

/** Labels, answers or words with scores: best first, as the model gave them. */
export function barsOf({ answer: { output } }: Shown): Bar[] | null {
  if (isRow(output) && Array.isArray(output['labels']) && Array.isArray(output['scores'])) {
    const scores = output['scores'] as number[];
    return (output['labels'] as string[]).map((label, i) => ({ label, score: scores[i] }));
  }
  const rows = rowsOf(isRow(output) ? [output] : flat(output));
  if (!rows || rows.length === 0) return null;
  const bars = rows.map(barOf);
  return bars.every((bar) => bar !== undefined) ? bars : null;
}

/** Texts with several masks have a list for each of them. */
const flat = (output: unknown): unknown => (Array.isArray(output) ? output.flat() : output);

function barOf(row: Row): Bar | undefined {
  const label = row['label'] ?? row['answer'] ?? row['sequence'];
  if (typeof label !== 'string') return undefined;
  return { label, score: isNumber(row['score']) ? row['score'] : undefined };
}

export function Bars({ read }: { read: Bar[] }) {
  return (
    <ul class="bars">
      {read.map(({ label, score }, i) => (
        <li key={i}>
          <span class="label">{label}</span>
          {score !== undefined && (
            <>
              <meter min={0} max={1} value={score} aria-label={`score of ${label}`} />
              <span class="score">{percent(score)}</span>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
