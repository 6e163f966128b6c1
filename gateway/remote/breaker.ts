import { RunError } from '../../runtime/core/errors.js';

/** Failures in a row after which nothing is asked for a while. */
const MOST_FAILURES = 5;
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 60_000;

/** Keeps callers from waiting for a provider that fails again and again. */
export interface Breaker {
  /**
   * Begins a request. After a pause a single one is let through, and decides.
   * @throws RunError `overloaded` while nothing is asked
   */
  begin(): Attempt;
}

/** One request; what is told after its end does not count. */
export interface Attempt {
  /** The provider has begun to answer: others may ask again. */
  answers(): void;
  succeeded(): void;
  failed(): void;
  /** Nothing is known, as the caller has left. */
  abandoned(): void;
}

export interface BreakerOptions {
  name: string;
  log: (line: string) => void;
  now?: () => number;
}

export function createBreaker({ name, log, now = () => performance.now() }: BreakerOptions): Breaker {
  let failures = 0;
  let pauseMs = FIRST_PAUSE_MS;
  /** Undefined while requests are let through. */
  let openUntil: number | undefined;
  let isTrying = false;

  function open(): void {
    openUntil = now() + pauseMs;
    log(`the provider of ${name} has failed ${failures} times in a row: no calls for ${pauseMs / 1000} s`);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
  }

  function close(): void {
    openUntil = undefined;
    log(`the provider of ${name} answers again`);
  }

  function refuse(until: number): never {
    const retryAfter = Math.max(1, Math.ceil((until - now()) / 1000));
    const message = `the provider of ${name} has failed again and again; try again in ${retryAfter} s`;
    throw new RunError('overloaded', message, { retryAfter });
  }

  return {
    begin() {
      let isTrial = openUntil !== undefined;
      if (openUntil !== undefined && (isTrying || now() < openUntil)) refuse(openUntil);
      isTrying ||= isTrial;
      let isOver = false;
      const endTrial = () => {
        if (isTrial) isTrying = false;
        isTrial = false;
      };
      const answers = () => {
        if (isTrial) close();
        endTrial();
      };
      const ending = (end: () => void) => () => {
        if (isOver) return;
        isOver = true;
        end();
        endTrial();
      };
      return {
        answers,
        abandoned: ending(() => {}),
        succeeded: ending(() => {
          answers();
          // What began before the failures says nothing of what is now.
          if (openUntil !== undefined) return;
          failures = 0;
          pauseMs = FIRST_PAUSE_MS;
        }),
        failed: ending(() => {
          failures++;
          if (isTrial || (openUntil === undefined && failures >= MOST_FAILURES)) open();
        }),
      };
    },
  };
}
