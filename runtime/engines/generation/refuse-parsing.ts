import { RunError } from '../../core/errors.js';
import { type ChatOptions, wantsParsing } from '../../core/tools.js';

/**
 * For models whose answers are text only: there are no calls and no reasoning to tell apart, so parse_response changes nothing.
 * @throws RunError 422 where a tool is to be called
 */
export function refuseParsing({ tool_choice }: ChatOptions): void {
  if (wantsParsing({ tool_choice }))
    throw new RunError('unprocessable', 'params.tool_choice: this model only writes text; leave it out');
}
