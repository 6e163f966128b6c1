import { useEffect, useState } from 'preact/hooks';
import { isNumber } from './guards.js';
import type { Shown } from './result.js';

interface Embedding {
  name: string;
  vector: number[];
}

/** Most vectors that are compared. */
const KEPT = 8;

/** A vector: one for the input, or the first one of several. */
export function vectorOf({ answer: { output }, input }: Shown): Embedding | null {
  let found = output;
  while (Array.isArray(found) && Array.isArray(found[0])) found = found[0];
  if (!Array.isArray(found) || found.length === 0 || !found.every(isNumber)) return null;
  const name = typeof input['text'] === 'string' ? input['text'] : 'this input';
  return { name, vector: found };
}

/** The vector in short, and how like it is to those of the calls before it (cosine). */
export function Vector({ read }: { read: Embedding }) {
  const [kept, setKept] = useState<Embedding[]>([]);
  useEffect(() => {
    setKept((before) => [...before.filter(({ name }) => name !== read.name), read].slice(-KEPT));
  }, [read.vector]);
  const norm = Math.sqrt(dot(read.vector, read.vector));
  return (
    <>
      <p>
        {read.vector.length} numbers, length {norm.toFixed(4)}:{' '}
        <code>
          {read.vector
            .slice(0, 6)
            .map((value) => value.toFixed(4))
            .join(', ')}
          , …
        </code>
      </p>
      {kept.length > 1 ? (
        <table class="matrix">
          <caption>Cosine similarity of the last inputs</caption>
          <tbody>
            {kept.map((row, i) => (
              <tr key={row.name}>
                <th scope="row">{row.name.slice(0, 40)}</th>
                {kept.map((column, j) => (
                  <td key={j} style={{ '--heat': Math.max(0, cosine(row.vector, column.vector)) }}>
                    {i === j ? '1' : cosine(row.vector, column.vector).toFixed(3)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <p class="note">Run another input to compare the two.</p>
      )}
    </>
  );
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);

const cosine = (a: readonly number[], b: readonly number[]): number =>
  dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
