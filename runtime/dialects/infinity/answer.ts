import { randomUUID } from 'node:crypto';
import type { ServedModel, TokenCounts } from '../host.js';

/** What Infinity's answers have in common. */
export function answerOf(object: string, { modelId }: ServedModel, tokens: TokenCounts | undefined): object {
  const count = tokens?.in ?? 0;
  return {
    ...{ object, id: `infinity-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: modelId },
    usage: { prompt_tokens: count, total_tokens: count },
  };
}
