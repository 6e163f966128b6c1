import type { Tensor } from 'onnxruntime-node';

/** What stands in front of a decoder: it makes the states of a source that every step attends to. */
export interface Encoder<Source> {
  /** How many states it makes of a source. Memory for them is reserved before it runs. */
  lengthOf(source: Source): number;
  /** Most states that it makes of one source; Infinity where the model sets no limit. */
  readonly maxLength: number;
  /** States that are no padding, from the first one on; all of them by default. */
  seenOf?(source: Source): number;
  /** @returns states [1, length, width]; rejects with the signal's reason when that aborts before the source's turn */
  encode(source: Source, signal: AbortSignal): Promise<Tensor>;
}
