export interface StopGate {
  push(text: string): string;
  flush(): string;
  /** True once a stop string has appeared. */
  readonly closed: boolean;
}

/** Lets text through up to the earliest stop string; holds back an end that could be the beginning of one. */
export function createStopGate(stops: readonly string[]): StopGate {
  let held = '';
  let closed = false;
  return {
    get closed() {
      return closed;
    },
    push(text) {
      held += text;
      const found = stops.map((stop) => held.indexOf(stop)).filter((at) => at >= 0);
      closed = found.length > 0;
      const sure = closed
        ? Math.min(...found)
        : held.length - Math.max(0, ...stops.map((stop) => overlap(held, stop)));
      const piece = held.slice(0, sure);
      held = closed ? '' : held.slice(sure);
      return piece;
    },
    flush() {
      const rest = held;
      held = '';
      return rest;
    },
  };
}

/** Length of the longest end of `text` that is a beginning of `stop`. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(stop.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(stop.slice(0, length))) return length;
  }
  return 0;
}
