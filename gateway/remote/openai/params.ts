import type { RemoteCall } from '../kind.js';
import { lengthOf, renamed, temperatureOf } from '../params.js';

/** Params with a name of their own in OpenAI's interface, or in those of servers that extend it. */
const NAMES = {
  ...{ top_p: 'top_p', seed: 'seed', stop: 'stop', top_k: 'top_k', min_p: 'min_p', typical_p: 'typical_p' },
  ...{ presence_penalty: 'presence_penalty', frequency_penalty: 'frequency_penalty' },
  ...{ repetition_penalty: 'repetition_penalty', logit_bias: 'logit_bias', num_return_sequences: 'n' },
  ...{ min_new_tokens: 'min_tokens', skip_special_tokens: 'skip_special_tokens' },
};

/** What both text routes of OpenAI's interface take. */
export function textFields(call: RemoteCall): Record<string, unknown> {
  const { params, remote, stream } = call;
  const length = lengthOf(call);
  const temperature = temperatureOf(params);
  return {
    model: remote.model,
    ...renamed(params, NAMES),
    ...structured(params),
    ...(length === undefined ? {} : { [remote.lengthParameter]: length }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  };
}

/** Schemas are kept strictly: an answer that only mostly follows one is not what was asked for. */
function structured({ json_schema: schema, json_object, regex, choices }: RemoteCall['params']) {
  const outputs = { ...(regex ? { regex } : {}), ...(choices ? { choice: choices } : {}) };
  return {
    ...(json_object ? { response_format: { type: 'json_object' } } : {}),
    ...(schema
      ? { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } } }
      : {}),
    ...(Object.keys(outputs).length > 0 ? { structured_outputs: outputs } : {}),
  };
}

/** What conversations take beside that. */
export function chatFields({ params }: RemoteCall): Record<string, unknown> {
  const { tool_choice: choice, logprobs, enable_thinking, chat_template_kwargs, ...rest } = params;
  const named = typeof choice === 'object' ? { type: 'function', function: choice } : choice;
  const variables = {
    ...(enable_thinking === undefined ? {} : { enable_thinking }),
    ...(chat_template_kwargs as object | undefined),
  };
  return {
    ...renamed(rest, {
      ...{ tools: 'tools', parallel_tool_calls: 'parallel_tool_calls' },
      ...{ reasoning_effort: 'reasoning_effort', documents: 'documents' },
    }),
    ...(named === undefined ? {} : { tool_choice: named }),
    ...(logprobs === undefined
      ? {}
      : { logprobs: true, ...(logprobs === 0 ? {} : { top_logprobs: logprobs }) }),
    ...(Object.keys(variables).length > 0 ? { chat_template_kwargs: variables } : {}),
  };
}
