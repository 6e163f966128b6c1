import * as z from 'zod';
import type { LimitOptions } from './bucket.js';

const amount = z.int().min(1).max(999_999_999);

/** Limits that one key has for itself; what is absent is as the gateway's options say. */
export const ownLimits = z.strictObject({
  rate: z
    // 24 days, as for every time that a user gives.
    .strictObject({ calls: amount, seconds: z.number().min(0.001).max(2_147_483) })
    .optional(),
  concurrent: amount.optional(),
});

export type OwnLimits = z.output<typeof ownLimits>;

/** The limits that hold for a key: its own, else the gateway's. */
export function effectiveLimits(all: LimitOptions, own: OwnLimits | undefined): LimitOptions {
  if (own === undefined) return all;
  return {
    ...(own.rate ?? { calls: all.calls, seconds: all.seconds }),
    concurrent: own.concurrent ?? all.concurrent,
  };
}

/** Nothing that is set is no limits at all, so that a file has one way to say it. */
export function withLimits<T extends { limits?: OwnLimits | undefined }>(record: T, own: OwnLimits): T {
  const { limits: _before, ...rest } = record;
  return (own.rate || own.concurrent !== undefined ? { ...rest, limits: own } : rest) as T;
}

/** Limits as facts of a line: nothing for those of all. */
export function limitFacts(own: OwnLimits | undefined): { rate?: string; concurrent?: number } {
  return {
    ...(own?.rate && { rate: `${own.rate.calls}/${own.rate.seconds}s` }),
    ...(own?.concurrent !== undefined && { concurrent: own.concurrent }),
  };
}
