import type { CacheBudget, Reservation } from './cache-budget.js';
import type { Decoding, DecodingRequest } from '../decoder.js';

/** What the cache of one generation takes: bytes for each of its rows. */
export interface CacheFootprint {
  /** Most rows at a time. */
  rows: number;
  /** Tokens of a row that room is reserved for at the start. */
  tokens: number;
  bytesPerToken: number;
  /** Bytes that a row takes beside its tokens. */
  fixedBytes?: number;
  /** Bytes for scores of its prompt. */
  scoreBytes?: number;
}

/** Reserves bytes: in the queue where the request waits, else now or not at all. */
export function reserveCache(
  budget: CacheBudget,
  bytes: number,
  { waits = false, signal }: DecodingRequest,
): Reservation | Promise<Reservation> {
  return waits ? budget.reserveInTurn(bytes, signal) : budget.reserve(bytes);
}

/**
 * Starts a generation once its bytes are reserved; its end releases them. One that grows past its tokens reserves more
 * as it grows.
 * @throws RunError 422 or 503, at the start and at steps past its tokens, as the budget does
 */
export async function startWithReservation(
  budget: CacheBudget,
  {
    rows,
    tokens,
    bytesPerToken,
    fixedBytes = 0,
    scoreBytes = 0,
    request,
  }: CacheFootprint & { request: DecodingRequest },
  start: () => Promise<Decoding>,
): Promise<Decoding> {
  const bytesOf = (length: number) => rows * (fixedBytes + length * bytesPerToken) + scoreBytes;
  const reservation = await reserveCache(budget, bytesOf(tokens), request);
  let fed = 0;
  const growBy = (count: number): void => {
    fed += count;
    if (fed > tokens) reservation.grow(bytesOf(fed));
  };
  try {
    const decoding = await start();
    return {
      ...decoding,
      async prefill(prompt, tell) {
        growBy(prompt.tokens.length);
        return decoding.prefill(prompt, tell);
      },
      async step(next) {
        growBy(1);
        return decoding.step(next);
      },
      end() {
        reservation.release();
        decoding.end();
      },
    };
  } catch (error) {
    reservation.release();
    throw error;
  }
}
