import * as z from 'zod';
import { functionOf, wantsParsing } from '../core/tools.js';

/** Arguments of conversations that have tools or thoughts in them. */
export const toolParams = {
  tools: z
    .array(z.record(z.string(), z.unknown()))
    .nullish()
    .describe(
      'tools for the chat template, as OpenAI writes them: {type: "function", function: {…}}; calls of those with strict: true follow their schema',
    ),
  tool_choice: z
    .union([z.enum(['auto', 'none', 'required']), z.strictObject({ name: z.string().min(1) })])
    .nullish()
    .describe('whether the answer calls a tool: as the model likes (auto), never, always, or the named one'),
  parallel_tool_calls: z.boolean().nullish().describe('false: the answer ends with its first call'),
  parse_response: z
    .boolean()
    .nullish()
    .describe(
      'tell calls of tools and reasoning apart from the content; so does tool_choice, unless it is auto or none',
    ),
  enable_thinking: z.boolean().nullish().describe('a variable of chat templates'),
  reasoning_effort: z
    .string()
    .min(1)
    .nullish()
    .describe('a variable of chat templates; `none` is enable_thinking: false where the template has that'),
};

interface ToolParams {
  tools?: readonly Record<string, unknown>[] | null | undefined;
  tool_choice?: 'auto' | 'none' | 'required' | { name: string } | null | undefined;
  parse_response?: boolean | null | undefined;
}

/** Refuses tools that can't be called, and choices among tools that are not there. */
export function checkTools({ params }: { params: ToolParams }, context: z.RefinementCtx): void {
  const refuse = (message: string, ...path: (string | number)[]) =>
    context.addIssue({ code: 'custom', message, path: ['params', ...path] });
  if (!wantsParsing(params)) return;
  const functions = (params.tools ?? []).map(functionOf);
  const names = functions.map((found) => found?.name);
  for (const [i, name] of names.entries()) {
    if (name === undefined) refuse('needs a function with a name', 'tools', i);
    else if (names.indexOf(name) < i) refuse(`the name ${name} comes twice`, 'tools', i);
  }
  const { tool_choice: choice } = params;
  if (choice === 'required' && names.length === 0) refuse('needs tools', 'tool_choice');
  if (typeof choice === 'object' && choice && !names.includes(choice.name))
    refuse(`no tool is called ${choice.name}`, 'tool_choice', 'name');
}
