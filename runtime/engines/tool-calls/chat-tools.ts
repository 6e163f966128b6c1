import { RunError } from '../../core/errors.js';
import { type ChatOptions, functionOf, type ToolFunction } from '../../core/tools.js';
import type { ToolFormat } from './formats/format.js';
import { adaptHistory, type HistoryMessage } from './history/adapt.js';
import { genericPrompt } from './history/generic-prompt.js';
import { filled } from './probe/frame.js';
import type { TemplateFacts } from './probe/probe.js';

/** A conversation as its template takes it, and how the answer is to be read. */
export interface PreparedChat {
  messages: HistoryMessage[];
  variables: Record<string, unknown>;
  functions: ReadonlyMap<string, ToolFunction>;
  /** Undefined: no calls are looked for. */
  format: ToolFormat | undefined;
  /** The beginning of a call: up to its name, or its arguments where the name is given. */
  forced: string;
  /** True: an answer without a call is none. */
  mustCall: boolean;
  /** The one function that is to be called, where the request names it. */
  named: string | undefined;
}

/**
 * `reasoning_effort` as the template has it.
 * @throws RunError 422 where the model thinks, and its template knows no effort
 */
export function effortVariables(
  { reasoning_effort: effort }: ChatOptions,
  { variables, reasoning }: TemplateFacts,
): Record<string, unknown> {
  if (effort == null) return {};
  if (effort === 'none' && variables.enableThinking) return { enable_thinking: false };
  if (variables.reasoningEffort) return { reasoning_effort: effort };
  // What doesn't think thinks with no effort.
  if (!reasoning && !variables.enableThinking) return {};
  const remedy = variables.enableThinking ? 'leave it out, or send none' : 'leave it out';
  throw new RunError(
    'unprocessable',
    `params.reasoning_effort: the model's chat template has no such variable; ${remedy}`,
  );
}

/** Prepares a conversation whose answer is to be read. @throws RunError as `adaptHistory` */
export function prepareChat(
  messages: readonly HistoryMessage[],
  variables: Record<string, unknown>,
  options: ChatOptions,
  facts: TemplateFacts,
): PreparedChat {
  const choice = options.tool_choice ?? 'auto';
  const functions = functionsOf(options);
  const used = functions.size > 0;
  const mustCall = used && choice !== 'auto' && choice !== 'none';
  const { tools: _, ...others } = variables;
  const named = typeof choice === 'object' && choice ? choice.name : undefined;
  const history = adaptHistory(messages, facts);
  const place = used ? facts.toolsVariable : undefined;
  const generic = used && facts.format.kind === 'generic';
  return {
    messages: generic
      ? withSystemText(history, genericPrompt(functions.values(), mustCall), facts)
      : place === 'system message'
        ? withSystemTools(history, JSON.stringify(options.tools))
        : history,
    variables: place && place !== 'system message' ? { ...others, [place]: options.tools } : others,
    functions,
    format: used || ALWAYS.has(facts.format.kind) ? facts.format : undefined,
    forced: mustCall ? forcedText(facts, named) : '',
    ...{ mustCall, named },
  };
}

/** Formats in which content, too, stands in marks. */
const ALWAYS: ReadonlySet<ToolFormat['kind']> = new Set(['harmony', 'recipient']);

function functionsOf({ tools, tool_choice: choice }: ChatOptions): Map<string, ToolFunction> {
  const found = choice === 'none' ? [] : (tools ?? []).flatMap((tool) => functionOf(tool) ?? []);
  const named = typeof choice === 'object' && choice ? choice.name : undefined;
  const callable = named === undefined ? found : found.filter(({ name }) => name === named);
  return new Map(callable.map((one) => [one.name, one]));
}

function withSystemText(
  messages: readonly HistoryMessage[],
  text: string,
  { systemRole }: TemplateFacts,
): HistoryMessage[] {
  const [first, ...rest] = messages;
  const role = systemRole ? 'system' : 'user';
  if (first?.role !== role) return [{ role, content: text }, ...messages];
  const { content } = first;
  const joined = Array.isArray(content)
    ? [{ type: 'text', text: `${text}\n\n` }, ...(content as unknown[])]
    : `${text}\n\n${String(content ?? '')}`;
  return [{ ...first, content: joined }, ...rest];
}

/** Tools as a key of the system's message. */
function withSystemTools(messages: readonly HistoryMessage[], tools: string): HistoryMessage[] {
  const [first, ...rest] = messages;
  if (first?.role !== 'system') return [{ role: 'system', content: '', tools }, ...messages];
  return [{ ...first, tools }, ...rest];
}

function forcedText({ frame }: TemplateFacts, named: string | undefined): string {
  const { open, between } = frame ?? { open: '', between: '' };
  return filled(named === undefined ? open : open + named + between);
}
