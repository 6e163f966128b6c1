import type { Tensor } from 'onnxruntime-node';

/** What stands in front of a decoder: makes states of a source, which every step looks at. */
export interface Encoder<Source> {
  /** How many states it makes of a source: room for them is set aside before it runs. */
  lengthOf(source: Source): number;
  /** Most states that it makes of one source; Infinity where the model sets no limit. */
  readonly maxLength: number;
  /** @returns states [1, length, width] */
  encode(source: Source): Promise<Tensor>;
}
