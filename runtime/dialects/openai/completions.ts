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
import type { TextRequest, TextShape } from './text-answers.js';

const MAX_PROMPTS = 128;

const NO_TOKENS = 'must be a text or several: prompts of token ids are not supported';

/** POST completions. */
export const completionBody = z.strictObject({
  model: modelField,
  prompt: textOrTexts(MAX_PROMPTS, NO_TOKENS),
  ...samplingFields,
  logprobs: z.int().min(0).max(20).nullish(),
  echo: z.boolean().nullish(),
  best_of: z.int().min(1).nullish().describe('as many as n only'),
  ...ignoredFields,
  suffix: unsupportedField('models here only continue a text'),
});

/** @throws RunError that names the field */
export function readCompletion(json: unknown, host: DialectHost): TextRequest {
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
    ...(given.logprobs == null ? {} : { logprobs: given.logprobs }),
    ...(model.task === 'text-generation' ? { return_full_text: false } : {}),
  };
  const prompts = [given.prompt].flat();
  return {
    model,
    bodies: prompts.map((text) => ({ text, params })),
    names: { text: 'prompt', num_return_sequences: 'n', max_new_tokens: 'max_tokens' },
    echoes: prompts.map((text) => (given.echo ? text : '')),
    stream: given.stream ?? false,
    includeUsage: given.stream_options?.include_usage ?? false,
    shape,
  };
}

const shape: TextShape = {
  prefix: 'cmpl',
  object: 'text_completion',
  chunk: 'text_completion',
  choice: ({ text, echo, logprobs, finish }) => ({
    text: echo + text,
    logprobs: logprobs ? columns(logprobs) : null,
    finish_reason: finish,
  }),
  piece: (text, logprobs) => ({
    text,
    logprobs: logprobs ? columns(logprobs) : null,
    finish_reason: null,
  }),
  end: (finish) => ({ text: '', logprobs: null, finish_reason: finish }),
};

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
