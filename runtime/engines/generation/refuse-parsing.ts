import { RunError } from '../../core/errors.js';
import type { ChatOptions } from '../../core/tools.js';

/** @throws RunError 422 where calls and reasoning were to be told apart, by a model whose answers are text only */
export function refuseParsing({ parse_response, tool_choice }: ChatOptions): void {
  if (parse_response) throw new RunError('unprocessable', `params.parse_response: ${TEXT_ONLY}`);
  if (tool_choice != null && tool_choice !== 'auto' && tool_choice !== 'none')
    throw new RunError('unprocessable', `params.tool_choice: ${TEXT_ONLY}`);
}

const TEXT_ONLY = 'this model only writes text; leave it out';
