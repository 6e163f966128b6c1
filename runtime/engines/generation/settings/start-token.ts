import { RunError } from '../../../core/errors.js';
import type { PromptModel } from '../generate-from-prompt.js';

/**
 * generate() begins an empty prompt with BOS.
 * @throws RunError 400 where there is none
 */
export function withStartToken(ids: number[], { repository }: PromptModel): number[] {
  if (ids.length > 0) return ids;
  const bos = repository['bos_token_id'];
  if (typeof bos === 'number') return [bos];
  throw new RunError('invalid_input', 'text: is empty, and this model has no start token');
}
