import { RunError } from '../../../../core/errors.js';
import type { FamilyFiles, ImageFamily } from './family.js';

/**
 * The token of images, as configurations name it.
 * @throws RunError not_ready where there is none
 */
export function imageToken({
  config,
  processor,
  tokenizer,
}: FamilyFiles): Pick<ImageFamily, 'placeholder' | 'tokenId'> {
  const named = config['image_token_id'] ?? config['image_token_index'];
  const text = typeof processor['image_token'] === 'string' ? processor['image_token'] : '<image>';
  const tokenId = typeof named === 'number' ? named : tokenizer.idOf(text);
  const placeholder = tokenId === undefined ? undefined : tokenizer.tokenOf(tokenId);
  if (tokenId !== undefined && placeholder) return { placeholder, tokenId };
  throw new RunError('not_ready', 'the model names no token of images (image_token_id)');
}

/**
 * The token of videos, as configurations name it.
 * @param usual what Python takes for it
 * @throws RunError not_ready where there is none
 */
export function clipToken(
  { config, tokenizer }: FamilyFiles,
  usual: string,
): Pick<ImageFamily, 'placeholder' | 'tokenId'> {
  const named = config['video_token_id'] ?? config['video_token_index'];
  const tokenId = typeof named === 'number' ? named : tokenizer.idOf(usual);
  const placeholder = tokenId === undefined ? undefined : tokenizer.tokenOf(tokenId);
  if (tokenId !== undefined && placeholder) return { placeholder, tokenId };
  throw new RunError('not_ready', 'the model names no token of videos (video_token_id)');
}
