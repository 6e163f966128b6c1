/** Statuses after which the same request may be answered a moment later. */
export const BUSY: ReadonlySet<number> = new Set([429, 503, 529]);

/** Longest time that a call waits for a provider that is busy, all pauses together. */
const MOST_WAIT_MS = 20_000;
const FIRST_PAUSE_MS = 500;

/** How long one call waits for a provider that is busy. */
export interface Patience {
  /**
   * Milliseconds to wait before the next try, as long as the provider asks for.
   * @returns undefined if that is too long: then the caller has to know
   */
  next(retryAfterMs: number | undefined): number | undefined;
}

export function createPatience(mostMs = MOST_WAIT_MS, random: () => number = Math.random): Patience {
  let leftMs = mostMs;
  let pauseMs = FIRST_PAUSE_MS;
  return {
    next(retryAfterMs) {
      // Callers that were refused together should not come back together.
      const wished = (retryAfterMs ?? pauseMs) + random() * 250;
      pauseMs *= 2;
      if (wished > leftMs) return undefined;
      leftMs -= wished;
      return wished;
    },
  };
}

/** Milliseconds that a Retry-After header asks for, in seconds or as a date; undefined without one that can be read. */
export function retryAfterOf(header: string | string[] | undefined, now = Date.now()): number | undefined {
  const text = [header].flat()[0]?.trim() ?? '';
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
