import * as z from 'zod';

const text = z.looseObject({ type: z.literal('text'), text: z.string() });

const image = z.looseObject({
  type: z.literal('image'),
  source: z.union([
    z.looseObject({ type: z.literal('base64'), data: z.string().min(1) }),
    z.looseObject({ type: z.literal('url'), url: z.string().min(1) }),
  ]),
});

const toolResult = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.union([text, image]))]).nullish(),
  is_error: z.boolean().nullish(),
});

const toolUse = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
});

const thinking = z.looseObject({ type: z.literal('thinking'), thinking: z.string() });
/** Only its service can read it: left out. */
const redacted = z.looseObject({ type: z.literal('redacted_thinking') });

export const block = z.discriminatedUnion('type', [text, image, toolResult, toolUse, thinking, redacted]);

export type ContentBlock = z.output<typeof block>;

export const messageField = z.looseObject({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), z.array(block)]),
});

/** Tools of the caller's own; those that Anthropic runs are refused. */
const tool = z.looseObject({
  type: z.literal('custom', { error: 'can only be custom: no tools are run here' }).nullish(),
  name: z.string(),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()),
  strict: z.boolean().nullish(),
});

const parallel = { disable_parallel_tool_use: z.boolean().nullish() };

const toolChoice = z.discriminatedUnion('type', [
  z.object({ type: z.literal('auto'), ...parallel }),
  z.object({ type: z.literal('any'), ...parallel }),
  z.object({ type: z.literal('tool'), name: z.string(), ...parallel }),
  z.object({ type: z.literal('none') }),
]);

const jsonFormat = z.looseObject({
  type: z.literal('json_schema'),
  schema: z.record(z.string(), z.unknown()),
});

/** What a conversation is, for messages and for the count of its tokens. */
const conversationFields = {
  model: z.string().nullish(),
  messages: z.array(messageField).min(1),
  system: z.union([z.string(), z.array(text)]).nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  thinking: z
    .looseObject({ type: z.enum(['enabled', 'disabled', 'adaptive']) })
    .nullish()
    .describe('whether the model thinks, where its template knows that'),
};

/** POST v1/messages. Other fields are accepted, since clients add new ones all the time, and named in a header. */
export const messagesBody = z.looseObject({
  ...conversationFields,
  max_tokens: z.int().min(1),
  temperature: z.number().min(0).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(0).nullish(),
  stop_sequences: z.array(z.string()).max(16).nullish(),
  stream: z.boolean().nullish(),
  output_format: jsonFormat.nullish().describe('a schema for the answer'),
  output_config: z.looseObject({ format: jsonFormat.nullish() }).nullish(),
});

/** POST v1/messages/count_tokens. */
export const countBody = z.looseObject(conversationFields);

export type Conversation = z.output<typeof countBody>;
