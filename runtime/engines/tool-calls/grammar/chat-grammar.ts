import { RunError } from '../../../core/errors.js';
import type { ChatOptions } from '../../../core/tools.js';
import type { PreparedChat } from '../chat-tools.js';
import type { ToolFormat } from '../formats/format.js';
import type { TemplateFacts } from '../probe/probe.js';
import { answerGrammar } from './answer-grammar.js';
import type { AnswerText } from './answer-text.js';
import { type CheckSchema, grammarTool } from './arguments-schema.js';
import type { Begun } from './calls.js';
import type { MarkerTokens } from './lark.js';

/** What the answers of a chat have to follow. */
export interface ChatGrammar {
  /** The parameter that asks for it. */
  param: string;
  /** In Lark's notation. */
  source: string;
  /** True: nobody was promised it; it makes calls likelier to be read. */
  optional: boolean;
  /** Schemas of the tools, to find the one that is refused. */
  parts: { place: string; schema: Record<string, unknown> }[];
}

export interface ChatGrammarInput {
  prepared: PreparedChat;
  facts: TemplateFacts;
  options: ChatOptions;
  thoughts: 'before' | 'within' | 'behind';
  begun: Begun;
  /** The format that the request asks for, and by which parameter. */
  asked: { param: string; json: boolean; text: AnswerText } | undefined;
  tokens: MarkerTokens;
  checkSchema: CheckSchema;
}

/** Compiling takes longer than a length says. */
const MOST_CHARACTERS = 256 * 1024;

/**
 * The grammar of a chat's answers.
 * @returns undefined where nothing is to be constrained, or where a call can't be
 * @throws RunError 400 for a strict schema that can't be honoured, 422 for tools and a format that can't go together
 */
export function chatGrammar(input: ChatGrammarInput): ChatGrammar | undefined {
  const { prepared, facts, options, asked } = input;
  const { format, mustCall } = prepared;
  const functions = [...prepared.functions.values()];
  const strict = functions.some((one) => one.strict);
  const generic = format?.kind === 'generic';
  if (!mustCall && !asked && !strict && !generic) return undefined;
  const tools = functions.map((one) => grammarTool(one, input.checkSchema));
  const text = mustCall ? undefined : asked?.text;
  if (text && tools.length > 0) checkUnion(format!, asked!);
  const source = answerGrammar({
    ...{ format, frame: facts.frame, reasoning: facts.reasoning, thoughts: input.thoughts },
    ...{ tools, mustCall, begun: input.begun, text, tokens: input.tokens },
    several: facts.parallel && options.parallel_tool_calls !== false && prepared.named === undefined,
  });
  const param = mustCall ? 'tool_choice' : (asked?.param ?? 'tools');
  if (source === undefined && (asked || strict)) throw inexpressible(param);
  if (source === undefined) return undefined;
  const optional = !mustCall && !asked && !strict;
  if (source.length > MOST_CHARACTERS) {
    if (optional) return undefined;
    throw new RunError('invalid_input', `params.tools: are longer than ${MOST_CHARACTERS / 1024} KiB`);
  }
  return { param, source, optional, parts: tools.map(({ place, schema }) => ({ place, schema })) };
}

const inexpressible = (param: string) =>
  new RunError('unprocessable', `params.${param}: can’t be promised in the format of this model’s calls`);

/** @throws RunError 422 where calls and a format could not be told apart */
function checkUnion(format: ToolFormat, { param, json }: NonNullable<ChatGrammarInput['asked']>): void {
  const refuse = (why: string) =>
    new RunError('unprocessable', `params.${param}: does not go with params.tools here: ${why}`);
  if ('bare' in format && format.bare)
    throw refuse('this model announces no calls, which could be texts of that format');
  if (format.kind === 'generic' && !json)
    throw refuse('this model’s template knows no tools, so its answers are JSON; ask for json_schema');
}
