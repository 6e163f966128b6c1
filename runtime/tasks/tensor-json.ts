import { encodedJson, type EncodedJson } from '../core/encoded-json.js';
import { finiteList } from './scores.js';

/** Numbers between two turns of the event loop. */
const NUMBERS = 2 ** 15;

/** A tensor as nested arrays, written in pieces: numbers are text for most of the time that a large answer takes. */
export async function tensorJson(values: Float32Array, dims: readonly number[]): Promise<EncodedJson> {
  const width = dims.at(-1)!;
  const pieces: string[] = [];
  let since = 0;
  for (let at = 0; at < values.length; at += width) {
    pieces.push(opening(at, dims) + JSON.stringify(finiteList(values.subarray(at, at + width))));
    if ((since += width) < NUMBERS) continue;
    since = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return encodedJson([...pieces, ']'.repeat(dims.length - 1)]);
}

/** What stands before the row that begins at `at`: brackets of the axes that begin there, and end there. */
function opening(at: number, dims: readonly number[]): string {
  if (at === 0) return '['.repeat(dims.length - 1);
  let ended = 0;
  let size = dims.at(-1)!;
  for (let axis = dims.length - 2; axis > 0; axis--) {
    size *= dims[axis]!;
    if (at % size === 0) ended++;
  }
  return `${']'.repeat(ended)},${'['.repeat(ended)}`;
}
