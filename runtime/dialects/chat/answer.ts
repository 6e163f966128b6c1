import { RunError } from '../../core/errors.js';
import type { ToolCall } from '../../core/delta.js';
import type { LikelyToken, PromptToken, TokenLogprob } from '../../core/handles/index.js';
import type { FinishReason, Usage } from '../../core/usage.js';

type ChatToken = Pick<LikelyToken, 'token' | 'logprob' | 'bytes'>;

/** A token of an answer, as OpenAI's interface tells it. */
export interface ChatLogprob extends ChatToken {
  top_logprobs: ChatToken[];
}

/** One answer of a conversation. */
export interface ChatAnswer {
  content: string;
  /** What the model thought before it answered; empty if nothing. */
  reasoning: string;
  calls: readonly ToolCall[];
  logprobs?: ChatLogprob[] | undefined;
  /** Of the prompt as its template wrote it. */
  promptLogprobs?: PromptToken[] | undefined;
  finish: FinishReason;
}

interface AssistantMessage {
  content: string | null;
  reasoning_content?: string;
  tool_calls?: ToolCall[];
  logprobs?: { content: TokenLogprob[] };
  prompt_logprobs?: { content: PromptToken[] };
}

/** The answers of a chat task: one message, or several. */
export function chatAnswers(output: unknown, usage: Usage | undefined): ChatAnswer[] {
  return ([output].flat() as AssistantMessage[]).map((message, i) => ({
    content: message.content ?? '',
    reasoning: message.reasoning_content ?? '',
    calls: message.tool_calls ?? [],
    logprobs: message.logprobs?.content.map(publicRow),
    promptLogprobs: message.prompt_logprobs?.content,
    finish: usage?.finish?.[i] ?? 'stop',
  }));
}

/** A token without what this interface does not tell of it. */
function publicRow({ top_logprobs, ...row }: TokenLogprob): ChatLogprob {
  return { ...publicToken(row), top_logprobs: top_logprobs.map(publicToken) };
}

const publicToken = ({ token, logprob, bytes }: LikelyToken): ChatToken => ({ token, logprob, bytes });

/** A call's arguments as a value. @throws RunError 500 for a text that is no JSON */
export function argumentsOf({ function: { name, arguments: text } }: ToolCall): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new RunError(
      'engine_failed',
      `the model called ${name} with arguments that are no JSON; ask again`,
    );
  }
}
