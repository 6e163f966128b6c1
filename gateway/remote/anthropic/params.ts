import { RunError } from '../../../runtime/core/errors.js';
import { functionOf } from '../../../runtime/core/tools.js';
import type { Params, RemoteCall } from '../kind.js';
import { lengthOf, renamed, temperatureOf } from '../params.js';

/** Where neither the caller nor the catalogue sets a length, which this interface wants: as everywhere here. */
const LENGTH = 256;

/** The least that a model may be given to think with. */
const LEAST_THOUGHT = 1024;

/** What is counted as part of the prompt. */
export function promptFields({ params, remote }: RemoteCall): Record<string, unknown> {
  const tools = toolsOf(params);
  return {
    model: remote.model,
    ...(tools.length > 0 ? { tools, tool_choice: choiceOf(params) } : {}),
  };
}

/** All the rest. */
export function answerFields(call: RemoteCall): Record<string, unknown> {
  const { params } = call;
  const max_tokens = lengthOf(call) ?? LENGTH;
  const temperature = temperatureOf(params);
  const stop = [params['stop'] ?? []].flat();
  return {
    max_tokens,
    ...renamed(params, { top_p: 'top_p', top_k: 'top_k' }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(stop.length > 0 ? { stop_sequences: stop } : {}),
    ...outputFields(params),
    ...thinkingFields(params, max_tokens),
  };
}

function toolsOf({ tools }: Params): object[] {
  return ((tools ?? []) as Record<string, unknown>[]).map((tool, i) => {
    const found = functionOf(tool);
    if (!found) throw new RunError('invalid_input', `params.tools.${i}: needs a function with a name`);
    const { name, description, parameters = { type: 'object' }, strict } = found;
    return {
      ...{ name, input_schema: parameters },
      ...(description === undefined ? {} : { description }),
      ...(strict ? { strict } : {}),
    };
  });
}

const CHOICES: Readonly<Record<string, string>> = { auto: 'auto', none: 'none', required: 'any' };

function choiceOf({ tool_choice: choice = 'auto', parallel_tool_calls }: Params): object {
  const single =
    parallel_tool_calls === false && choice !== 'none' ? { disable_parallel_tool_use: true } : {};
  if (typeof choice === 'string') return { type: CHOICES[choice], ...single };
  return { type: 'tool', ...(choice as { name: string }), ...single };
}

function outputFields({ json_schema: schema, reasoning_effort: effort }: Params): object {
  const output_config = {
    ...(schema ? { format: { type: 'json_schema', schema } } : {}),
    ...(effort && effort !== 'none' ? { effort } : {}),
  };
  return Object.keys(output_config).length > 0 ? { output_config } : {};
}

/** @throws RunError 400 where the answer leaves no room for thoughts */
function thinkingFields(
  { enable_thinking: on, reasoning_effort: effort }: Params,
  maxTokens: number,
): object {
  if (on === false || effort === 'none') return { thinking: { type: 'disabled' } };
  if (!on) return {};
  if (maxTokens > LEAST_THOUGHT) {
    const budget_tokens = Math.max(LEAST_THOUGHT, Math.floor(maxTokens / 2));
    return { thinking: { type: 'enabled', budget_tokens } };
  }
  const message = `params.enable_thinking: needs max_new_tokens above ${LEAST_THOUGHT}`;
  throw new RunError('invalid_input', message);
}
