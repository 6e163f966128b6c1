/** Params that callers may give unless the catalogue says otherwise. */
export const STANDARD_PARAMS = {
  openai: [
    ...['max_new_tokens', 'temperature', 'top_p', 'seed', 'stop', 'presence_penalty', 'frequency_penalty'],
    ...['logit_bias', 'logprobs', 'num_return_sequences', 'tools', 'tool_choice', 'parallel_tool_calls'],
    ...['json_schema', 'json_object', 'reasoning_effort', 'prefix', 'dimensions', 'truncate_dim', 'prompt'],
  ],
  anthropic: [
    ...['max_new_tokens', 'temperature', 'top_p', 'top_k', 'stop', 'tools', 'tool_choice'],
    ...['parallel_tool_calls', 'json_schema', 'reasoning_effort', 'enable_thinking', 'count_only'],
  ],
} as const;

/** Params that only some servers of OpenAI's interface know: the catalogue has to name them. */
const EXTENDED = [
  ...['top_k', 'min_p', 'typical_p', 'repetition_penalty', 'min_new_tokens', 'skip_special_tokens', 'regex'],
  ...['choices', 'enable_thinking', 'chat_template_kwargs', 'documents', 'continue_final_message'],
] as const;

/** All that a kind of provider can be asked. */
export const KNOWN_PARAMS: Readonly<Record<keyof typeof STANDARD_PARAMS, readonly string[]>> = {
  openai: [...STANDARD_PARAMS.openai, ...EXTENDED],
  anthropic: STANDARD_PARAMS.anthropic,
};
