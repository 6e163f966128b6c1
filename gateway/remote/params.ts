import { RunError } from '../../runtime/core/errors.js';
import type { Params, RemoteCall } from './kind.js';
import { STANDARD_PARAMS } from './known-params.js';

/** Params that say how an answer is given, or that translators look at themselves. */
const FORM = new Set([
  ...['parse_response', 'return_full_text', 'normalize', 'normalize_embeddings', 'continue_final_message'],
]);

/** Values that ask for nothing. */
const NEUTRAL: Readonly<Record<string, unknown>> = {
  ...{ num_beams: 1, num_return_sequences: 1, repetition_penalty: 1, guidance_scale: 1, length_penalty: 1 },
  ...{ min_new_tokens: 0, min_length: 0, no_repeat_ngram_size: 0, encoder_repetition_penalty: 1, min_p: 0 },
  ...{ typical_p: 1, skip_special_tokens: true, count_only: false, truncation: false, json_object: false },
  ...{ parallel_tool_calls: true, tool_choice: 'auto' },
  ...{ apply_chat_template: true, ignore_eos: false },
};

/** Whatever their value, the answer is the same. */
const WITHOUT_EFFECT = new Set(['use_cache', 'pad_token_id']);

/** `do_sample` is a matter of the temperature. */
const PERMIT: Readonly<Record<string, string>> = { do_sample: 'temperature' };

/**
 * The params that a provider is asked.
 * @throws RunError 400 that names one that it can't be asked, or may not be
 */
export function askedParams(
  { modelId, remote }: Pick<RemoteCall, 'modelId' | 'remote'>,
  given: Params,
): Record<string, unknown> {
  const kind = remote.kind === 'anthropic' ? 'anthropic' : 'openai';
  const allowed: readonly string[] = remote.parameters ?? STANDARD_PARAMS[kind];
  const asked = Object.entries(given).filter(([name, value]) => value != null && !isNeutral(name, value));
  const stranger = asked.find(([name]) => !FORM.has(name) && !allowed.includes(PERMIT[name] ?? name));
  if (stranger === undefined) return Object.fromEntries(asked);
  throw new RunError('invalid_input', `params.${stranger[0]}: can't be given to ${modelId}; leave it out`);
}

function isNeutral(name: string, value: unknown): boolean {
  return WITHOUT_EFFECT.has(name) || (Object.hasOwn(NEUTRAL, name) && NEUTRAL[name] === value);
}

/**
 * The length that a text may have; undefined for the provider's own limit.
 * @throws RunError 400 for more than the catalogue allows
 */
export function lengthOf({
  modelId,
  remote,
  params,
}: Pick<RemoteCall, 'modelId' | 'remote' | 'params'>): number | undefined {
  const asked = params['max_new_tokens'] as number | undefined;
  const { maxTokens } = remote.limits;
  if (asked !== undefined && maxTokens !== undefined && asked > maxTokens)
    throw new RunError('invalid_input', `params.max_new_tokens: ${modelId} writes ${maxTokens} at most`);
  return asked ?? maxTokens;
}

/** Renames params; those that are absent stay so. */
export function renamed(params: Params, names: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([ours, theirs]) => (ours in params ? [[theirs, params[ours]]] : [])),
  );
}

/** The temperature to ask for; undefined for the provider's own. */
export function temperatureOf({ do_sample, temperature }: Params): number | undefined {
  return do_sample === false ? 0 : (temperature as number | undefined);
}
