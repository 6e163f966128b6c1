import { isRow, type Row } from './guards.js';
import type { Shown } from './result.js';

interface Written {
  texts: string[];
  reasoning?: string;
  calls: { name: string; arguments: string }[];
  chunks: { text: string; timestamp: [number, number | null] }[];
}

/** Texts: as they are, with their tokens' scores, as a message, or as a transcript with times. */
export function textOf({ answer: { output } }: Shown): Written | null {
  const texts = (Array.isArray(output) ? output : [output]).map(oneText);
  if (texts.length === 0 || texts.some((text) => text === undefined)) return null;
  const row = isRow(output) ? output : {};
  const calls = ((row['tool_calls'] ?? []) as { function: Written['calls'][number] }[]).map(
    (call) => call.function,
  );
  return {
    texts: texts as string[],
    ...(typeof row['reasoning_content'] === 'string' ? { reasoning: row['reasoning_content'] } : {}),
    calls,
    chunks: (row['chunks'] ?? []) as Written['chunks'],
  };
}

function oneText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!isRow(value)) return undefined;
  const text = value['generated_text'] ?? value['text'] ?? contentOf(value);
  return typeof text === 'string' ? text : undefined;
}

/** A message that only calls tools has no content. */
const contentOf = (row: Row): unknown => ('content' in row ? (row['content'] ?? '') : undefined);

export function Text({ read: { texts, reasoning, calls, chunks } }: { read: Written }) {
  return (
    <div aria-live="polite">
      {reasoning && (
        <details>
          <summary>Reasoning</summary>
          <p class="written">{reasoning}</p>
        </details>
      )}
      {texts.map((text, i) => (
        <p key={i} class="written">
          {text === '' ? <em>(no text)</em> : text}
        </p>
      ))}
      {calls.map(({ name, arguments: given }, i) => (
        <pre key={i} class="json">
          {name}({given})
        </pre>
      ))}
      {chunks.length > 0 && (
        <ul class="rows">
          {chunks.map(({ text, timestamp: [from, to] }, i) => (
            <li key={i}>
              <small>
                {from.toFixed(2)}–{to?.toFixed(2) ?? ''} s
              </small>
              <span class="label">{text}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
