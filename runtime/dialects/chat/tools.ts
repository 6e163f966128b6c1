import * as z from 'zod';
import { RunError } from '../../core/errors.js';

/** A tool as chat templates have it. */
export interface Tool {
  type: 'function';
  function: { name: string; description?: string; parameters?: unknown; strict?: boolean };
}

const name = z.string().regex(/^[\w.-]{1,128}$/, 'must be letters, digits, dots, dashes and underscores');

/** OpenAI's tools; those that OpenAI itself would run are refused. */
export const tool = z.object({
  type: z.literal('function', { error: 'can only be function' }),
  function: z.object({
    name,
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
    strict: z.boolean().nullish(),
  }),
});

const named = z.object({ type: z.literal('function'), function: z.object({ name }) });

export const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  named,
  z.object({
    type: z.literal('allowed_tools'),
    allowed_tools: z.object({ mode: z.enum(['auto', 'required']), tools: z.array(named) }),
  }),
]);

export interface ToolRequest {
  tools?: readonly z.output<typeof tool>[] | null | undefined;
  tool_choice?: z.output<typeof toolChoice> | null | undefined;
  parallel_tool_calls?: boolean | null | undefined;
}

/** Which tools may be called: `required` one of them, or the named one. */
export type ToolChoice = 'none' | 'auto' | 'required' | { name: string };

/**
 * Params of POST /run for tools; none without tools.
 * @throws RunError 400 for a choice among tools that are not there
 */
export function toolParams({
  tools,
  tool_choice,
  parallel_tool_calls,
}: ToolRequest): Record<string, unknown> {
  if (!tools || tools.length === 0) {
    if (tool_choice == null || tool_choice === 'none' || tool_choice === 'auto') return {};
    throw new RunError('invalid_input', 'tool_choice: needs tools');
  }
  const { among, choice } = chosen(tools.map(plainTool), tool_choice ?? 'auto');
  return {
    tools: among,
    ...(choice === 'auto' ? {} : { tool_choice: choice }),
    ...(parallel_tool_calls === false ? { parallel_tool_calls } : {}),
  };
}

function chosen(tools: Tool[], choice: z.output<typeof toolChoice>): { among: Tool[]; choice: ToolChoice } {
  if (typeof choice === 'string') return { among: tools, choice };
  const has = (wanted: string) => tools.some((one) => one.function.name === wanted);
  const wanted =
    choice.type === 'function'
      ? [choice.function.name]
      : choice.allowed_tools.tools.map((one) => one.function.name);
  const missing = wanted.find((one) => !has(one));
  if (missing !== undefined)
    throw new RunError('invalid_input', `tool_choice: there is no tool called ${missing}`);
  if (choice.type === 'function') return { among: tools, choice: { name: wanted[0]! } };
  const among = tools.filter((one) => wanted.includes(one.function.name));
  return { among, choice: choice.allowed_tools.mode };
}

/** Without nulls, which some templates would print. */
function plainTool({ function: { name, description, parameters, strict } }: z.output<typeof tool>): Tool {
  return {
    type: 'function',
    function: {
      name,
      ...(description == null ? {} : { description }),
      ...(parameters == null ? {} : { parameters }),
      ...(strict ? { strict } : {}),
    },
  };
}
