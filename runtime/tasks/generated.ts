import * as z from 'zod';
import type { GeneratedText } from '../core/handles/index.js';
import type { Usage } from '../core/usage.js';

const likely = {
  id: z.int().optional().describe('absent where others serve the model'),
  token: z.string(),
  logprob: z.number().nullable(),
  bytes: z.array(z.int()),
  special: z.literal(true).optional().describe('texts are told without it'),
};

const row = z.object({ ...likely, top_logprobs: z.array(z.object(likely)) });

/** Probabilities in the form of OpenAI's chat completions, with ids; `end` is the token that ended the text. */
export const logprobs = z.object({ content: z.array(row), end: row.optional() });

/** The same of the tokens of the prompt, each with its place among all. */
export const promptLogprobs = z.object({ content: z.array(row.extend({ rank: z.int().nullable() })) });

const text = z.union([
  z.string(),
  z.object({
    generated_text: z.string(),
    logprobs: logprobs.optional(),
    prompt_logprobs: promptLogprobs.optional(),
  }),
]);

/** A text; with logprobs or prompt_logprobs an object around it; several in an array. */
export const generatedText = z.union([text, z.array(text)]);

/** What an answer says. */
export interface Said extends Pick<
  GeneratedText,
  'text' | 'reasoning' | 'toolCalls' | 'promptLogprobs' | 'promptText'
> {
  logprobs?: z.output<typeof logprobs> | undefined;
}

/** The probabilities that were asked for. */
export const probabilitiesOf = ({ logprobs, promptLogprobs }: Said) => ({
  ...(logprobs ? { logprobs } : {}),
  ...(promptLogprobs ? { prompt_logprobs: promptLogprobs } : {}),
});

/** @param echo what stands before each answer, of a prompt that is a text */
export function textAnswer(found: readonly Said[], echo = ''): z.output<typeof generatedText> {
  return singleAnswer(
    found.map((one) => {
      const whole = echo + one.text;
      const told = probabilitiesOf(one);
      return Object.keys(told).length > 0 ? { generated_text: whole, ...told } : whole;
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
  params: {
    num_return_sequences?: number | null | undefined;
    logprobs?: number | null | undefined;
    prompt_logprobs?: number | null | undefined;
    stream_tokens?: boolean | null | undefined;
  };
}

/** What plain text in pieces has no place for. */
export function unstreamable({ params }: Streamed): string | undefined {
  if ((params.num_return_sequences ?? 1) > 1)
    return 'params.num_return_sequences: only one answer can be streamed';
  if (params.logprobs != null && !params.stream_tokens)
    return 'params.logprobs: a stream is text only; ask without stream, or for params.stream_tokens';
  if (params.prompt_logprobs != null)
    return 'params.prompt_logprobs: a stream is text only, ask without stream';
  return undefined;
}
