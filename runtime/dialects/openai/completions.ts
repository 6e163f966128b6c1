import * as z from 'zod';
import type { PromptToken, TokenLogprob } from '../../core/handles/index.js';
import type { FinishReason } from '../../core/usage.js';
import { FORMAT_NAMES, formatFields, formatParams } from '../chat/format.js';
import {
  generationOf,
  ignoredFields,
  modelField,
  readFields,
  samplingFields,
  unsupportedField,
} from '../fields.js';
import type { DialectHost } from '../host.js';
import { byTokenId, columns } from './completion-logprobs.js';
import { bodyOf, checkPromptCount, checkScoring, prompt, promptsOf } from './completion-prompt.js';
import { findModel } from './models.js';
import type { TextRequest, TextShape } from './text-answers.js';

/** POST completions. */
export const completionBody = z.strictObject({
  model: modelField,
  prompt,
  ...samplingFields,
  ...formatFields,
  max_tokens: samplingFields.max_tokens.describe(
    'default, and -1: the repository’s limit, else 256; 0: the prompt is read, and nothing is written',
  ),
  logprobs: z.int().min(0).max(20).nullish().describe('with echo those of the prompt, too'),
  echo: z.boolean().nullish(),
  prompt_logprobs: z.int().min(0).max(20).nullish().describe('not OpenAI’s: as vLLM has it'),
  add_special_tokens: z
    .boolean()
    .nullish()
    .describe('not OpenAI’s: false: nothing before the text of a prompt'),
  best_of: z.int().min(1).nullish().describe('as many as n only'),
  ...ignoredFields,
  suffix: unsupportedField('models here only continue a text'),
});

/** @throws RunError that names the field */
export function readCompletion(json: unknown, host: DialectHost): TextRequest<Completion> {
  checkPromptCount(json);
  const given = readFields(completionBody, json);
  const model = findModel('/completions', given.model ?? undefined, host);
  checkScoring(model, given);
  const { max_tokens, logprobs, echo, add_special_tokens } = given;
  const isRead = max_tokens === 0;
  const scored = given.prompt_logprobs ?? (echo ? logprobs : undefined);
  const both = echo && logprobs != null ? Math.max(scored ?? 0, logprobs) : scored;
  const params = {
    ...generationOf({ ...given, prompt_logprobs: null, max_tokens: isRead ? undefined : max_tokens }),
    ...formatParams(given),
    ...(logprobs == null || isRead ? {} : { logprobs }),
    ...(both == null ? {} : { prompt_logprobs: both }),
    ...(isRead ? { count_only: true } : {}),
  };
  const prompts = promptsOf(given.prompt);
  const echoed = (one: string | number[]) => (echo && typeof one === 'string' ? one : '');
  const echoesTokens = echo === true && prompts.some((one) => typeof one !== 'string');
  return {
    model,
    bodies: prompts.map((one) => bodyOf(model, one, { params, echo: echo ?? false, add_special_tokens })),
    names: {
      ...{ text: 'prompt', messages: 'prompt', prompt_token_ids: 'prompt', apply_chat_template: 'prompt' },
      ...{ num_return_sequences: 'n', max_new_tokens: 'max_tokens', min_new_tokens: 'min_tokens' },
      ...(given.prompt_logprobs == null ? { prompt_logprobs: 'logprobs' } : {}),
      ...FORMAT_NAMES,
    },
    echoes: prompts.map(echoed),
    stream: given.stream ?? false,
    // What stands before the answer, and probabilities, have no place in a stream of pieces.
    isWhole: isRead || both != null || echoesTokens,
    includeUsage: given.stream_options?.include_usage ?? false,
    shape: shapeOf({ echo: echo ?? false, logprobs, tellsPrompt: given.prompt_logprobs != null }),
  };
}

/** One answer of a text task. */
interface Completion {
  text: string;
  logprobs: Scored['logprobs'] | undefined;
  promptLogprobs: PromptToken[] | undefined;
  finish: FinishReason;
}

interface Scored {
  logprobs?: { content: TokenLogprob[]; end?: TokenLogprob };
  prompt_logprobs?: { content: PromptToken[] };
}

interface Telling {
  echo: boolean;
  logprobs: number | null | undefined;
  /** vLLM's own list of the prompt. */
  tellsPrompt: boolean;
}

function shapeOf({ echo, logprobs: count, tellsPrompt }: Telling): TextShape<Completion> {
  /** Of the text that is told: with echo the prompt's tokens, and the one that ended the text, as evaluations count on it. */
  const rows = ({ text, logprobs, promptLogprobs }: Completion) => {
    if (count == null) return null;
    const { content = [], end } = logprobs ?? {};
    const all = echo ? [...(promptLogprobs ?? []), ...content, ...(end ? [end] : [])] : content;
    return columns(all, { text, count });
  };
  return {
    prefix: 'cmpl',
    object: 'text_completion',
    chunk: 'text_completion',
    read: (output, usage, before) =>
      [output].flat().map((value, i) => {
        const { text, logprobs, prompt_logprobs } = readText(value);
        const finish = usage?.finish?.[i] ?? 'stop';
        return { text: before + text, logprobs, promptLogprobs: prompt_logprobs?.content, finish };
      }),
    choice: (answer) => ({
      text: answer.text,
      logprobs: rows(answer),
      finish_reason: answer.finish,
      ...(tellsPrompt ? { prompt_logprobs: byTokenId(answer.promptLogprobs ?? []) } : {}),
    }),
    piece: (piece) => ({ text: 'text' in piece ? piece.text : '', logprobs: null, finish_reason: null }),
    *chunks(answer) {
      yield { text: answer.text, logprobs: rows(answer), finish_reason: null };
    },
    end: (finish) => ({ text: '', logprobs: null, finish_reason: finish }),
  };
}

/** Tasks give a string, or an object with a text and its probabilities; chats a message. */
function readText(output: unknown): Scored & { text: string } {
  if (typeof output === 'string') return { text: output };
  const { generated_text, content, ...rest } = output as Scored & Record<string, string>;
  return { ...(rest as Scored), text: generated_text ?? content ?? '' };
}
