import type { LoadRequest } from '../../../core/load-request.js';
import { outputOf } from '../graph.js';
import { openPromptEncoder, openTokenEncoder } from '../prompts.js';
import type { EncodePrompts } from './text-conditions.js';

/** Tokens that T5 reads of a prompt, filled up (`max_sequence_length`). */
const LENGTH = 512;

/** Flux: the states of T5, and CLIP's vector of the whole. It is guided by a number, so negative prompts are not read, as in Python. */
export async function openFluxPrompts(request: LoadRequest): Promise<EncodePrompts> {
  const [clip, t5] = await Promise.all([
    openPromptEncoder(request, 'text_encoder'),
    openTokenEncoder(request, 'text_encoder_2', LENGTH),
  ]);
  return async ({ prompt, length, signal }) => {
    const whole = await clip.encode(prompt, signal);
    return {
      encoder_hidden_states: outputOf(await t5.encode(prompt, signal, length), 'last_hidden_state'),
      pooled_projections: outputOf(whole, 'pooler_output'),
    };
  };
}
