import type { GenerateOptions } from '../../../core/handles/index.js';
import type { GenerationSettings } from '../settings/settings.js';

/** The parameter that could contradict a grammar, or would change a text that follows one. */
export function contradictingParam(
  settings: GenerationSettings,
  request: GenerateOptions,
): string | undefined {
  const contradicting: Record<string, boolean> = {
    num_beams: settings.numBeams > 1,
    guidance_scale: settings.guidanceScale !== 1,
    min_new_tokens: settings.minNewTokens > 0,
    forced_bos_token_id: settings.forcedBosTokenId !== undefined,
    forced_eos_token_id: settings.forcedEosTokenIds.length > 0,
    suppress_tokens: settings.suppressTokens.length > 0,
    begin_suppress_tokens: settings.beginSuppressTokens.length > 0,
    eos_token_id: request.eos_token_id != null,
    ignore_eos: request.ignore_eos === true,
    stop_token_ids: settings.stopTokenIds.size > 0,
    stop_sequence: request.stop_sequence != null,
    skip_special_tokens: !settings.skipSpecialTokens,
    clean_up_tokenization_spaces: request.clean_up_tokenization_spaces === true,
  };
  const [found] = Object.keys(contradicting).filter((name) => contradicting[name]);
  return found === 'min_new_tokens' && request.min_new_tokens == null ? 'min_length' : found;
}
