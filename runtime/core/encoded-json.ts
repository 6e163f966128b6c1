/**
 * An output that an engine has written as JSON already. The server sends it as it is: millions of numbers would take some
 * ten times as much memory as values, and the event loop would stand still while they become text.
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

/** Bytes of each number with the comma or bracket behind it. */
const lengthOf = (value: number): number => (value < 10 ? 2 : value < 100 ? 3 : 4);

/**
 * Writes numbers of 0 to 255 as an array of rows, `[[0,1],[1,0]]`.
 * @param values row by row, a multiple of `width`
 */
export function encodeRows(values: Uint8Array, width: number): Uint8Array {
  const rows = values.length / width;
  let length = 2 + 2 * rows;
  for (const value of values) length += lengthOf(value);
  // Every row opens with a bracket, ends with one in place of its last comma, and all but the last have a comma behind it.
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
