import type { CacheBudget, Reservation } from './cache-budget.js';
import type { Decoding, Need } from '../decoder.js';

/** What the cache of one generation takes, in bytes for each of its rows. */
export interface Footprint {
  /** Most rows at a time. */
  rows: number;
  /** So many tokens a row have room from the beginning. */
  tokens: number;
  perToken: number;
  /** What it takes beside its tokens. */
  fixed?: number;
}

/** Sets bytes aside as the need has it: in line, or now or never. */
export function reserveFor(
  budget: CacheBudget,
  bytes: number,
  { patient = false, signal }: Need,
): Reservation | Promise<Reservation> {
  return patient ? budget.enter(bytes, signal) : budget.reserve(bytes);
}

/**
 * Starts a generation once its bytes are set aside; its end gives them back. One that goes on past its tokens takes more
 * as it grows.
 * @throws RunError 422 or 503, at the start and at steps past its tokens, as the budget does
 */
export async function startReserved(
  budget: CacheBudget,
  { rows, tokens, perToken, fixed = 0, need }: Footprint & { need: Need },
  start: () => Promise<Decoding>,
): Promise<Decoding> {
  const bytesOf = (length: number) => rows * (fixed + length * perToken);
  const reserved = await reserveFor(budget, bytesOf(tokens), need);
  let seen = 0;
  const growBy = (count: number): void => {
    seen += count;
    if (seen > tokens) reserved.grow(bytesOf(seen));
  };
  try {
    const decoding = await start();
    return {
      ...decoding,
      async prefill(prompt) {
        growBy(prompt.tokens.length);
        return decoding.prefill(prompt);
      },
      async step(next) {
        growBy(1);
        return decoding.step(next);
      },
      end() {
        reserved.release();
        decoding.end();
      },
    };
  } catch (error) {
    reserved.release();
    throw error;
  }
}
