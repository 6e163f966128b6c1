import * as z from 'zod';
import type { TokenLogprob } from '../../core/handles/index.js';
import { RunError } from '../../core/errors.js';
import {
  generationOf,
  ignoredFields,
  modelField,
  readFields,
  samplingFields,
  textOrTexts,
  unsupportedField,
} from '../fields.js';
import type { DialectHost } from '../host.js';
import { findModel } from './models.js';
import type { FinishReason } from '../../core/usage.js';
import { FORMAT_NAMES, formatFields, formatParams } from '../chat/format.js';
import type { TextRequest, TextShape } from './text-answers.js';

const MAX_PROMPTS = 128;

const NO_TOKENS = 'must be a text or several: prompts of token ids are not supported';

/** POST completions. */
export const completionBody = z.strictObject({
  model: modelField,
  prompt: textOrTexts(MAX_PROMPTS, NO_TOKENS),
  ...samplingFields,
  ...formatFields,
  logprobs: z.int().min(0).max(20).nullish(),
  echo: z.boolean().nullish(),
  best_of: z.int().min(1).nullish().describe('as many as n only'),
  ...ignoredFields,
  suffix: unsupportedField('models here only continue a text'),
});

/** @throws RunError that names the field */
export function readCompletion(json: unknown, host: DialectHost): TextRequest<Completion> {
  const given = readFields(completionBody, json);
  const model = findModel('/completions', given.model ?? undefined, host);
  if (given.best_of != null && given.best_of !== (given.n ?? 1))
    throw new RunError('invalid_input', 'best_of: is not supported but for as many as n');
  if (given.echo && given.logprobs != null)
    throw new RunError(
      'invalid_input',
      'echo: probabilities of the prompt are not known; ask without logprobs',
    );
  const params = {
    ...generationOf(given),
    ...formatParams(given),
    ...(given.logprobs == null ? {} : { logprobs: given.logprobs }),
    ...(model.task === 'text-generation' ? { return_full_text: false } : {}),
  };
  const prompts = [given.prompt].flat();
  return {
    model,
    bodies: prompts.map((text) => ({ text, params })),
    names: { text: 'prompt', num_return_sequences: 'n', max_new_tokens: 'max_tokens', ...FORMAT_NAMES },
    echoes: prompts.map((text) => (given.echo ? text : '')),
    stream: given.stream ?? false,
    includeUsage: given.stream_options?.include_usage ?? false,
    shape,
  };
}

/** One answer of a text task. */
interface Completion {
  text: string;
  logprobs: TokenLogprob[] | undefined;
  finish: FinishReason;
}

const shape: TextShape<Completion> = {
  prefix: 'cmpl',
  object: 'text_completion',
  chunk: 'text_completion',
  read: (output, usage, echo) =>
    [output].flat().map((value, i) => {
      const { text, logprobs } = readText(value);
      return { text: echo + text, logprobs: logprobs?.content, finish: usage?.finish?.[i] ?? 'stop' };
    }),
  choice: ({ text, logprobs, finish }) => ({
    text,
    logprobs: logprobs ? columns(logprobs) : null,
    finish_reason: finish,
  }),
  piece: (piece) => ({ text: 'text' in piece ? piece.text : '', logprobs: null, finish_reason: null }),
  *chunks({ text, logprobs }) {
    yield { text, logprobs: logprobs ? columns(logprobs) : null, finish_reason: null };
  },
  end: (finish) => ({ text: '', logprobs: null, finish_reason: finish }),
};

/** Tasks give a string, or an object with a text and its probabilities. */
function readText(output: unknown): { text: string; logprobs?: { content: TokenLogprob[] } } {
  if (typeof output === 'string') return { text: output };
  const { generated_text, ...rest } = output as Record<string, string>;
  return { ...rest, text: generated_text ?? '' };
}

/** This endpoint lists probabilities by column. Offsets count code points of the answer. */
function columns(rows: readonly TokenLogprob[]): object {
  const tokens = rows.map(({ token }) => token);
  const lengths = tokens.map((token) => Array.from(token).length);
  let end = 0;
  return {
    tokens,
    token_logprobs: rows.map(({ logprob }) => logprob),
    top_logprobs: rows.map(({ top_logprobs }) =>
      Object.fromEntries(top_logprobs.map(({ token, logprob }) => [token, logprob])),
    ),
    text_offset: lengths.map((length) => (end += length) - length),
  };
}
