interface Source {
  seed: number;
  stream: Uint32Array;
  keys: Float64Array;
}

interface Draw {
  seed: number;
  start: number;
  deviation: number;
  turn?: [rows: number, columns: number];
  steps: Int8Array;
  /** Of numbers of 16 bits. */
  half?: true;
}

export function streamOf(seed: number, count: number): Source;
export function findDraw(source: Source, values: Float32Array, dims: readonly number[]): Draw | undefined;
export function findHalfDraw(source: Source, halves: Uint16Array, dims: readonly number[]): Draw | undefined;
