/** Difference between machines. Figures already include the longest requests. */
const HEADROOM = 1.05;

/** Bytes to reserve for a server with this peak, as its limit or in a gateway's budget. */
export function withHeadroom(peakBytes: number): number {
  return peakBytes * HEADROOM;
}
