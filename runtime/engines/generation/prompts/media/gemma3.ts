import { RunError } from '../../../../core/errors.js';
import { firstNumber } from '../../../repository/model-folder.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { createLlavaFamily } from './llava.js';
import { namedToken } from './named-token.js';

/** Features of an image where config.json does not say. */
const FEATURES = 256;

/**
 * Gemma 3: images of one size, pooled to a fixed number of features, each between lines of its own.
 * @throws RunError not_ready for settings that cut images, and for files without the tokens around images
 */
export function createGemma3Family(files: FamilyFiles): ImageFamily {
  const { config, processing } = files;
  if (processing['do_pan_and_scan'])
    throw new RunError('not_ready', 'preprocessor_config.json: do_pan_and_scan is not supported');
  const { placeholder: token, ...family } = createLlavaFamily(files);
  const [before, after] = ['boi', 'eoi'].map((name) => edgeToken(files, name)) as [string, string];
  const count = firstNumber(config, 'mm_tokens_per_image') ?? FEATURES;
  return {
    ...family,
    ahead: 'medium',
    placeholder: before,
    layout: (size) => ({ ...family.layout(size), count }),
    expand: () => `\n\n${before}${token.repeat(count)}${after}\n\n`,
  };
}

/** The tokenizer names the tokens around images, which Python's processor takes; where it does not, config.json does. */
function edgeToken({ config, tokenizer }: FamilyFiles, name: string): string {
  const field = `${name}_token_index`;
  const found = namedToken(tokenizer, `${name}_token`) ?? tokenizer.tokenOf(firstNumber(config, field) ?? -1);
  if (found !== undefined && tokenizer.idOf(found) !== undefined) return found;
  throw new RunError('not_ready', `config.json: ${field} names no token`);
}
