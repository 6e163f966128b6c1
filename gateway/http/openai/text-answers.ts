import type { TokenLogprob } from '../../../runtime/core/handles/index.js';
import type { FinishReason, Usage } from '../../../runtime/core/usage.js';
import type { ModelEntry } from '../../catalog/entry.js';

/** One answer of a container, whatever task it does. */
export interface TextAnswer {
  text: string;
  /** Put before the text: a prompt that the caller wants back. */
  echo: string;
  logprobs: TokenLogprob[] | undefined;
  finish: FinishReason;
}

/** A request for text, ready to be asked for and answered. */
export interface TextRequest {
  entry: ModelEntry;
  /** Bodies of POST /run, one for each prompt. */
  bodies: readonly Record<string, unknown>[];
  /** The prompt that comes back before each answer; none: empty. */
  echoes: readonly string[];
  stream: boolean;
  includeUsage: boolean;
  shape: TextShape;
}

/** How an endpoint words what the models said. */
export interface TextShape {
  /** Of the answer's id. */
  prefix: string;
  object: string;
  chunk: string;
  /** A whole answer. */
  choice(answer: TextAnswer): object;
  /** Before the first piece; none: nothing. */
  begin?(): object;
  piece(text: string, logprobs?: TokenLogprob[]): object;
  end(finish: FinishReason): object;
}

/** A container's output and counts as answers. */
export function readAnswers(output: unknown, usage: Usage | undefined, echo = ''): TextAnswer[] {
  return [output].flat().map((one, i) => {
    const { text, logprobs } = spoken(one);
    return { text, echo, logprobs: logprobs?.content, finish: usage?.finish?.[i] ?? 'stop' };
  });
}

interface Spoken {
  text: string;
  logprobs?: { content: TokenLogprob[] };
}

/** The tasks' own shapes: a text, or an object with a text and its probabilities. */
function spoken(output: unknown): Spoken {
  if (typeof output === 'string') return { text: output };
  const { content, generated_text, ...rest } = output as Record<string, string>;
  return { ...rest, text: content ?? generated_text ?? '' };
}
