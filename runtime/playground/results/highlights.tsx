import { colorOf, isNumber, percent, rowsOf } from './guards.js';
import type { Shown } from './result.js';

interface Span {
  start: number;
  end: number;
  label: string;
  score: number;
}

interface Marked {
  text: string;
  spans: Span[];
}

/** Entities of a text, or answers in a context: rows with start and end in characters of it. */
export function spansOf({ answer: { output }, input }: Shown): Marked | null {
  const text = input['context'] ?? input['text'];
  const rows = rowsOf(Array.isArray(output) ? output : [output]);
  if (typeof text !== 'string' || !rows?.length) return null;
  if (!rows.every(({ start, end, score }) => isNumber(start) && isNumber(end) && isNumber(score)))
    return null;
  const spans = rows.map((row) => ({
    start: row['start'] as number,
    end: row['end'] as number,
    label: String(row['entity_group'] ?? row['entity'] ?? row['answer']),
    score: row['score'] as number,
  }));
  return { text, spans };
}

/** The text with its spans marked, and their rows below. Positions count characters as Python does, not UTF-16 units. */
export function Highlights({ read: { text, spans } }: { read: Marked }) {
  const labels = [...new Set(spans.map(({ label }) => label))];
  return (
    <>
      <p class="marked">
        {piecesOf(Array.from(text), spans).map(({ piece, span }, i) =>
          span ? (
            <mark
              key={i}
              style={{ '--mark': colorOf(labels.indexOf(span.label)) }}
              title={percent(span.score)}
            >
              {piece}
              <small>{span.label}</small>
            </mark>
          ) : (
            piece
          ),
        )}
      </p>
      <ul class="rows">
        {spans.map(({ label, start, end, score }, i) => (
          <li key={i}>
            <span class="label">{label}</span>
            <span class="score">{percent(score)}</span>
            <small>
              {start}–{end}
            </small>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The text cut at its spans; of spans that overlap the first one is marked. */
function piecesOf(characters: readonly string[], spans: readonly Span[]): { piece: string; span?: Span }[] {
  const pieces: { piece: string; span?: Span }[] = [];
  let at = 0;
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    if (span.start < at || span.end <= span.start) continue;
    pieces.push({ piece: characters.slice(at, span.start).join('') });
    pieces.push({ piece: characters.slice(span.start, span.end).join(''), span });
    at = span.end;
  }
  return [...pieces, { piece: characters.slice(at).join('') }];
}
