import type { UsageRow } from '../usage/row.js';
import type { FinishedCall } from './finished-call.js';

/** What a call adds to the usage of its key and model; undefined if it named no model of the catalogue. */
export function usageRow(call: FinishedCall): UsageRow | undefined {
  const { keyId, model, status, cold, seconds, cost, tokens } = call;
  if (keyId === undefined || model === undefined) return undefined;
  return {
    day: currentDay(),
    ...{ key: keyId, model: model.modelId, source: 'gateway', calls: 1 },
    errors: Number(status >= 400),
    coldStarts: Number(cold),
    ...{ seconds, cost, tokensIn: tokens?.in ?? 0, tokensOut: tokens?.out ?? 0 },
  };
}

/** In UTC. */
export function currentDay(): string {
  return new Date().toISOString().slice(0, 10);
}
