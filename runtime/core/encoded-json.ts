/**
 * An output that the engine has encoded as JSON; the server sends it unchanged. Millions of numbers would take ten times
 * the memory as values, and encoding them would block the event loop.
 */
export interface EncodedJson {
  /** JSON in UTF-8, in pieces. */
  readonly encodedJson: readonly Uint8Array[];
}

export function isEncodedJson(output: unknown): output is EncodedJson {
  return typeof output === 'object' && output !== null && 'encodedJson' in output;
}

/** @param pieces together one JSON value; strings are JSON text, not values */
export function encodedJson(pieces: Iterable<string | Uint8Array>): EncodedJson {
  const encoder = new TextEncoder();
  return {
    encodedJson: Array.from(pieces, (piece) => (typeof piece === 'string' ? encoder.encode(piece) : piece)),
  };
}

const [OPEN, CLOSE, COMMA, ZERO] = [0x5b, 0x5d, 0x2c, 0x30];

/** Bytes of a number with the comma or bracket after it. */
const lengthOf = (value: number): number => (value < 10 ? 2 : value < 100 ? 3 : 4);

/**
 * Encodes numbers from 0 to 255 as an array of rows, `[[0,1],[1,0]]`.
 * @param values row by row, a multiple of `width`
 */
export function encodeRows(values: Uint8Array, width: number): Uint8Array {
  const rows = values.length / width;
  let length = 2 + 2 * rows;
  for (const value of values) length += lengthOf(value);
  // Each row has an opening bracket, a closing one instead of its last comma, and all but the last a comma after it.
  const json = new Uint8Array(rows === 0 ? 2 : length);
  let at = 0;
  json[at++] = OPEN;
  for (let row = 0; row < rows; row++) {
    if (row > 0) json[at++] = COMMA;
    json[at++] = OPEN;
    for (let column = 0; column < width; column++) {
      if (column > 0) json[at++] = COMMA;
      const value = values[row * width + column]!;
      if (value >= 100) json[at++] = ZERO + Math.floor(value / 100);
      if (value >= 10) json[at++] = ZERO + (Math.floor(value / 10) % 10);
      json[at++] = ZERO + (value % 10);
    }
    json[at++] = CLOSE;
  }
  json[at++] = CLOSE;
  return json.subarray(0, at);
}
