import type { TokenLogprob } from '../../core/handles/index.js';
import type { FinishReason, Usage } from '../../core/usage.js';
import type { FieldNames } from '../field-names.js';
import type { ServedModel } from '../host.js';

/** One answer of a container, the same for all text tasks. */
export interface TextAnswer {
  text: string;
  /** The prompt to put before the text, if the caller asked for it; else empty. */
  echo: string;
  logprobs: TokenLogprob[] | undefined;
  finish: FinishReason;
}

/** A parsed request of a text endpoint. */
export interface TextRequest {
  model: ServedModel;
  /** Bodies of POST /run, one for each prompt. */
  bodies: readonly Record<string, unknown>[];
  /** How the caller calls the fields of the bodies. */
  names: FieldNames;
  /** What to put before the answers of each prompt; may be empty. */
  echoes: readonly string[];
  stream: boolean;
  includeUsage: boolean;
  shape: TextShape;
}

/** How an endpoint formats answers. */
export interface TextShape {
  /** Prefix of the answer's id. */
  prefix: string;
  object: string;
  chunk: string;
  /** A whole answer. */
  choice(answer: TextAnswer): object;
  /** Sent before the first piece, if present. */
  begin?(): object;
  piece(text: string, logprobs?: TokenLogprob[]): object;
  end(finish: FinishReason): object;
}

/** Converts a container's output and usage to answers. */
export function readAnswers(output: unknown, usage: Usage | undefined, echo = ''): TextAnswer[] {
  return [output].flat().map((value, i) => {
    const { text, logprobs } = readText(value);
    return { text, echo, logprobs: logprobs?.content, finish: usage?.finish?.[i] ?? 'stop' };
  });
}

interface GeneratedText {
  text: string;
  logprobs?: { content: TokenLogprob[] };
}

/** Tasks give a string, or an object with a text and its probabilities. */
function readText(output: unknown): GeneratedText {
  if (typeof output === 'string') return { text: output };
  const { content, generated_text, ...rest } = output as Record<string, string>;
  return { ...rest, text: content ?? generated_text ?? '' };
}
