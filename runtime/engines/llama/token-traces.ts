import type { TokenOffsets } from '../tokenizers/tokenize.js';
import type { LlamaVocabulary } from './llama.js';

/**
 * Where tokens lie in a text, in code points: their bytes one after the other. Tokens that the tokenizer has changed (lower
 * case, other forms) end where the text does.
 */
export function tracesOf(text: string, ids: readonly number[], vocabulary: LlamaVocabulary): TokenOffsets {
  const bytes = Buffer.from(text);
  const points = pointsOf(bytes);
  const traces: TokenOffsets = { starts: [], ends: [], words: [], looks: [] };
  let at = 0;
  for (const [i, id] of ids.entries()) {
    const piece = vocabulary.piece(id, true);
    // The blank that is put before a first word is not in the text.
    const skipped = i === 0 && piece[0] === BLANK && bytes[0] !== BLANK ? 1 : 0;
    const end = Math.min(bytes.length, at + piece.length - skipped);
    traces.starts.push(points[at]!);
    traces.ends.push(points[end]!);
    traces.words.push(i);
    traces.looks.push(vocabulary.text(id));
    at = end;
  }
  return traces;
}

const BLANK = 0x20;

/** For each byte, and the end, how many code points begin before it or there. */
function pointsOf(bytes: Buffer): Uint32Array {
  const points = new Uint32Array(bytes.length + 1);
  let count = 0;
  for (const [i, byte] of bytes.entries()) {
    const begins = (byte & 0xc0) !== 0x80;
    points[i] = begins ? count : count - 1;
    if (begins) count += 1;
  }
  points[bytes.length] = count;
  return points;
}
