import type { Figures } from './figures.js';
import type { ModelUsage, Usage } from './state.js';

/** What keys have used since this gateway started. @param labels select a key, a model, or both */
export function usageOf(figures: Figures, labels: { key?: string; model?: string }): Usage {
  return {
    calls: figures.sum('key_calls_total', labels),
    seconds: figures.sum('key_seconds_total', labels),
    cost: figures.sum('key_cost_dollars_total', labels),
    tokensIn: figures.sum('key_tokens_total', { ...labels, direction: 'in' }),
    tokensOut: figures.sum('key_tokens_total', { ...labels, direction: 'out' }),
  };
}

/** The same for each model that a key has called, the dearest first. */
export function usageByModel(figures: Figures, key: string): ModelUsage[] {
  return [...figures.sumBy('key_calls_total', 'model', { key }).keys()]
    .map((model) => ({ model, ...usageOf(figures, { key, model }) }))
    .toSorted((a, b) => b.cost - a.cost || b.calls - a.calls);
}
