import { RunError } from '../../../../core/errors.js';
import type { Json } from '../../../repository/model-folder.js';
import type { TextTokenizer } from '../../../tokenizers/tokenizer.js';
import { tokenText } from '../../../tokenizers/tokenizer-json.js';

/** A token by its name in the tokenizer's settings, of either version; undefined where they don't name it. */
export function namedToken({ config }: Pick<TextTokenizer, 'config'>, name: string): string | undefined {
  const inner = ['model_specific_special_tokens', 'extra_special_tokens'].map(
    (field) => ((config[field] ?? {}) as Json)[name],
  );
  return [config[name], ...inner].map(tokenText).find((text) => text !== '');
}

/** @throws RunError not_ready where the tokenizer has no such token: Python's processor fails */
export function requireNamedToken(tokenizer: TextTokenizer, name: string): string {
  const found = namedToken(tokenizer, name);
  if (found !== undefined && tokenizer.idOf(found) !== undefined) return found;
  throw new RunError('not_ready', `tokenizer_config.json: ${name} names no token`);
}
