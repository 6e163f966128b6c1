import { RunError } from '../../core/errors.js';
import type { GenerateOptions } from '../../core/handles.js';
import type { TextTokenizer } from '../text/tokenizer.js';

/** `stop_sequence` of Python's pipelines: the first token of that text takes the place of EOS. */
export function withStopToken(tokenizer: TextTokenizer, options: GenerateOptions): GenerateOptions {
  if (options.stop_sequence == null) return options;
  const [id] = tokenizer.encode(options.stop_sequence, { specialTokens: false }).ids;
  if (id !== undefined) return { ...options, eos_token_id: id };
  throw new RunError('unprocessable', 'params.stop_sequence: has no tokens');
}
