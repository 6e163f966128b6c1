import * as z from 'zod';
import type { TokenizerAnswer, TokenSpan } from '../../core/handles/index.js';
import { RunError } from '../../core/errors.js';
import type { TaskId } from '../../core/task-ids.js';
import { sendJson } from '../../wire/respond.js';
import { answerAll } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { dropNullish, modelField, neutral, unsupportedField } from '../fields.js';
import type { FieldNames } from '../field-names.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';

/** Tasks whose models read text by a tokenizer. */
export const TOKENIZER_TASKS = [
  ...['text-generation', 'chat', 'text2text-generation', 'summarization', 'translation', 'fill-mask'],
  ...['text-classification', 'token-classification', 'zero-shot-classification', 'question-answering'],
  ...['feature-extraction', 'sentence-similarity'],
] as readonly TaskId[];

/** POST tokenize: of a prompt or of messages, as vLLM has it; of inputs, as Text Embeddings Inference has it. */
export const tokenizeBody = z.strictObject({
  model: modelField,
  prompt: z.string().nullish(),
  messages: z.array(z.looseObject({ role: z.string() })).nullish(),
  inputs: z.union([z.array(z.string()).min(1), z.string()]).nullish(),
  add_special_tokens: z.boolean().nullish().describe('true by default, in messages false'),
  return_token_strs: z.boolean().nullish(),
  add_generation_prompt: z.boolean().nullish(),
  continue_final_message: z.boolean().nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
  tools: z.array(z.record(z.string(), z.unknown())).nullish(),
  chat_template: unsupportedField('the model’s own is used'),
  mm_processor_kwargs: neutral([{}], 'there are no media'),
  prompt_name: z.string().min(1).nullish().describe('name of a prompt in the repository, for inputs'),
});

type TokenizeBody = z.output<typeof tokenizeBody>;

export async function tokenize(call: DialectCall): Promise<void> {
  const options = { tasks: TOKENIZER_TASKS, batch: true, pythonNumbers: true };
  const given = await readRequest(call, tokenizeBody, options);
  const { body, names } = encodeRequest(given);
  await askTokenizer(call, { model: given.model, body, names }, (answer) => {
    const { tokens, max_length } = answer as Extract<TokenizerAnswer, { tokens: unknown }>;
    const [first] = tokens;
    const strings = given.return_token_strs ? first!.map(({ token }) => token) : null;
    return given.inputs == null
      ? {
          ...{ count: first!.length, max_model_len: max_length },
          ...{ tokens: first!.map(({ id }) => id), token_strs: strings },
        }
      : tokens.map((row) => row.map(publicSpan));
  });
}

const publicSpan = ({ id, text, special, start, stop }: TokenSpan) => ({ id, text, special, start, stop });

const KINDS = ['prompt', 'messages', 'inputs'] as const;

/** @throws RunError 400 unless there is one thing to make tokens of */
function encodeRequest(given: TokenizeBody): { body: Record<string, unknown>; names: FieldNames } {
  const [kind, other] = KINDS.filter((name) => given[name] != null);
  if (kind === undefined) throw new RunError('invalid_input', 'prompt: is required (or messages, or inputs)');
  if (other !== undefined) throw new RunError('invalid_input', `${other}: contradicts ${kind}`);
  const { add_special_tokens, chat_template_kwargs, tools, prompt_name } = given;
  if (kind !== 'inputs' && prompt_name != null)
    throw new RunError('invalid_input', `prompt_name: goes with inputs, not with ${kind}`);
  const special = dropNullish({ add_special_tokens });
  if (kind !== 'messages')
    return {
      body: { encode: [given[kind]!].flat(), ...special, ...dropNullish({ prompt_name }) },
      names: {
        ...{ 'tokenizer.encode': kind, 'tokenizer.encode.0': kind },
        'tokenizer.prompt_name': 'prompt_name',
      },
    };
  const { messages, continue_final_message, add_generation_prompt } = given;
  const variables = dropNullish({ ...chat_template_kwargs, tools });
  return {
    body: {
      messages,
      variables,
      ...dropNullish({ continue_final_message, add_generation_prompt }),
      ...special,
    },
    names: { 'tokenizer.messages': 'messages' },
  };
}

const ids = z.array(z.int().min(0));

/** POST detokenize, as vLLM has it. */
export const detokenizeBody = z.strictObject({ model: modelField, tokens: ids });

export async function detokenize(call: DialectCall): Promise<void> {
  const { model, tokens } = await readRequest(call, detokenizeBody, { tasks: TOKENIZER_TASKS });
  const body = { decode: [tokens], skip_special_tokens: false };
  const names = { 'tokenizer.decode': 'tokens' };
  await askTokenizer(call, { model, body, names }, (answer) => ({ prompt: textsOf(answer)[0] }));
}

/** POST decode, as Text Embeddings Inference has it. */
export const decodeBody = z.strictObject({
  ids: z.union([z.array(ids).min(1), ids]),
  skip_special_tokens: z.boolean().nullish(),
});

export async function decode(call: DialectCall): Promise<void> {
  const given = await readRequest(call, decodeBody, { tasks: TOKENIZER_TASKS });
  const isBatch = Array.isArray(given.ids[0]);
  const body = {
    decode: isBatch ? given.ids : [given.ids],
    ...dropNullish({ skip_special_tokens: given.skip_special_tokens }),
  };
  await askTokenizer(call, { body, names: { 'tokenizer.decode': 'ids' } }, textsOf);
}

const textsOf = (answer: TokenizerAnswer): string[] => ('texts' in answer ? answer.texts : []);

/** GET tokenizer_info, as vLLM has it; `?model=` where there are several. */
export async function tokenizerInfo(call: DialectCall): Promise<void> {
  const { model } = call.request.query;
  const asking = { model: typeof model === 'string' ? model : undefined, body: { info: true }, names: {} };
  await askTokenizer(call, asking, (answer) => ('info' in answer ? answer.info : {}));
}

interface Asking {
  model?: string | null | undefined;
  /** The `tokenizer` of a body of POST /run. */
  body: Record<string, unknown>;
  names: FieldNames;
}

async function askTokenizer(
  call: DialectCall,
  { model: name, body, names }: Asking,
  shape: (answer: TokenizerAnswer) => unknown,
): Promise<void> {
  const { host, response } = call;
  const model = requireModel(host, name, TOKENIZER_TASKS);
  await answerAll(call, { model, bodies: [{ tokenizer: body }], names }, ([first]) =>
    sendJson(response, 200, JSON.stringify(shape(first!.output as TokenizerAnswer))),
  );
}
