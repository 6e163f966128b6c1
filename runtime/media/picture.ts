/** Decoded pixels. */
export interface Picture {
  /** Interleaved samples, row by row: width * height * channels bytes. */
  data: Uint8Array;
  width: number;
  height: number;
  channels: number;
}
