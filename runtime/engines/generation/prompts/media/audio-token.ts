import { RunError } from '../../../../core/errors.js';
import type { FamilyFiles, AudioFamily } from './family.js';

/**
 * The token of audio clips.
 * @param written what the processor takes for it
 * @throws RunError not_ready where the tokenizer has none
 */
export function audioToken(
  { config, tokenizer }: FamilyFiles,
  written: string,
): Pick<AudioFamily, 'placeholder' | 'tokenId'> {
  const named = config['audio_token_id'] ?? config['audio_token_index'];
  const tokenId = tokenizer.idOf(written) ?? (typeof named === 'number' ? named : undefined);
  const placeholder = tokenId === undefined ? undefined : tokenizer.tokenOf(tokenId);
  if (tokenId !== undefined && placeholder) return { placeholder, tokenId };
  throw new RunError('not_ready', `the model has no token of sounds (${written}, audio_token_id)`);
}
