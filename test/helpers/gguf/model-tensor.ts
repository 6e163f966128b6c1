/** A tensor of a checkpoint. */
export interface ModelTensor {
  type: string;
  shape: readonly number[];
  bytes: Uint8Array;
}
