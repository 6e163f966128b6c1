/** What processes differ by from one machine to another: figures allow for the longest requests already. */
const HEADROOM = 1.05;

/** Bytes that a server is given, by its limit or by a gateway's budget, whose peak came to so many. */
export function withHeadroom(peakBytes: number): number {
  return peakBytes * HEADROOM;
}
