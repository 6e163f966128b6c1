import * as z from 'zod';
import type { GeneratedText } from '../core/handles/index.js';
import type { Usage } from '../core/usage.js';

const likely = { token: z.string(), logprob: z.number().nullable(), bytes: z.array(z.int()) };

/** Probabilities in the form of OpenAI's chat completions. */
export const logprobs = z.object({
  content: z.array(z.object({ ...likely, top_logprobs: z.array(z.object(likely)) })),
});

const text = z.union([z.string(), z.object({ generated_text: z.string(), logprobs })]);

/** A text; with logprobs an object around it; several in an array. */
export const generatedText = z.union([text, z.array(text)]);

/** @param echo what stands before each answer */
export function textAnswer(found: readonly GeneratedText[], echo = ''): z.output<typeof generatedText> {
  return singleAnswer(
    found.map((one) => {
      const whole = echo + one.text;
      return one.logprobs ? { generated_text: whole, logprobs: one.logprobs } : whole;
    }),
  );
}

export function generationUsage(found: readonly GeneratedText[]): Usage {
  return {
    tokensIn: found[0]!.tokensIn,
    tokensOut: found.reduce((sum, { tokensOut }) => sum + tokensOut, 0),
    ...(found[0]!.reasoningTokens === undefined
      ? {}
      : { reasoningTokens: found.reduce((sum, { reasoningTokens = 0 }) => sum + reasoningTokens, 0) }),
    finish: found.map(({ finish }) => finish),
    ...(found.some(({ stoppedBy }) => stoppedBy !== undefined)
      ? { stops: found.map(({ stoppedBy = null }) => stoppedBy) }
      : {}),
  };
}

/** One answer as it is, several as an array. */
export function singleAnswer<T>(answers: T[]): T | T[] {
  return answers.length === 1 ? answers[0]! : answers;
}

interface Streamed {
  params: { num_return_sequences?: number | null | undefined; logprobs?: number | null | undefined };
}

/** What plain text in pieces has no place for. */
export function unstreamable({ params }: Streamed): string | undefined {
  if ((params.num_return_sequences ?? 1) > 1)
    return 'params.num_return_sequences: only one answer can be streamed';
  if (params.logprobs != null) return 'params.logprobs: a stream is text only, ask without stream';
  return undefined;
}
