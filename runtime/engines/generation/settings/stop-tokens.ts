import { RunError } from '../../../core/errors.js';
import type { GenerateOptions } from '../../../core/handles/index.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';

/**
 * `stop_sequence` of Python's pipelines: tokens of that text take the place of EOS, each by itself.
 * @param count how many of them: text-generation takes all, the tasks with an encoder the first one
 */
export function withStopTokens(
  tokenizer: TextTokenizer,
  options: GenerateOptions,
  count = Infinity,
): GenerateOptions {
  if (options.stop_sequence == null) return options;
  const { ids } = tokenizer.encode(options.stop_sequence, { specialTokens: false });
  if (ids.length > 0) return { ...options, eos_token_id: ids.slice(0, count) };
  throw new RunError('unprocessable', 'params.stop_sequence: has no tokens');
}
