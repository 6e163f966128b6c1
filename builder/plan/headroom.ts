/** What several requests at a time take beyond one: figures are of requests of usual size, one after the other. */
const HEADROOM = 1.3;

/** Bytes that a server is given, by its limit or by a gateway's budget, whose peak came to so many. */
export function withHeadroom(peakBytes: number): number {
  return peakBytes * HEADROOM;
}
