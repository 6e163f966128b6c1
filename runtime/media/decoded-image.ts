/** Decoded pixels. */
export interface Image {
  /** Interleaved samples, row by row: width * height * channels bytes. */
  data: Uint8Array;
  width: number;
  height: number;
  channels: number;
}
