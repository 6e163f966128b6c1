import * as z from 'zod';
import { CheckFailure, demand, post, type ServerUnderTest, shown } from '../server.js';
import type { Answer } from '../transport.js';
import { jsonOf, type Recipe, sameAsRun, SHORT, writtenText } from './recipe.js';

type Message = Record<string, unknown> & { content?: unknown };
type Block = Record<string, unknown> & { type: string };

const PROMPT = 'Hello, who are you?';

const messagesOf = ({ golden }: ServerUnderTest): Message[] => golden['messages'] as Message[];

const blocksOf = ({ content }: Message): Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : ([content].flat() as Block[]);

/** The conversation without its media; what a model can't answer without them, all interfaces have to refuse. */
function textMessages(server: ServerUnderTest): Message[] {
  return messagesOf(server).map((message) => {
    const texts = blocksOf(message).filter(({ type }) => type === 'text');
    return { ...message, content: texts.map(({ text }) => text).join('\n') };
  });
}

/** The conversation in OpenAI's words. */
function openAiMessages(server: ServerUnderTest): Message[] {
  return messagesOf(server).map((message) =>
    typeof message.content === 'string'
      ? message
      : { ...message, content: blocksOf(message).map((block) => PARTS[block.type]?.(block) ?? block) },
  );
}

const PARTS: Readonly<Record<string, (block: Block) => Block>> = {
  image: ({ base64 }) => ({ type: 'image_url', image_url: { url: base64 } }),
  audio: ({ base64 }) => ({ type: 'input_audio', input_audio: { data: base64 } }),
  video: ({ base64 }) => ({ type: 'video_url', video_url: { url: base64 } }),
};

/** OpenAI's names of the parameters that make texts short and equal. */
const openAiShort = ({ described }: ServerUnderTest) => ({
  ...{ model: described.model, max_tokens: SHORT.max_new_tokens, temperature: 0 },
});

export const chat: Recipe = async (server, path) => {
  const body = { ...openAiShort(server), messages: openAiMessages(server) };
  const run = { messages: messagesOf(server), params: SHORT };
  const ask = (stream: boolean) => () => post(server, stream ? { ...body, stream } : body, { path });
  const seen = await sameAsRun(server, {
    ...{ run, wanted: writtenText, ask: ask(false) },
    found: (answer) => COMPLETION.parse(jsonOf(answer)).choices[0]!.message.content,
  });
  await streamed(() =>
    sameAsRun(server, { run, wanted: writtenText, ask: ask(true), found: (answer) => piecesOf(answer) }),
  );
  return seen;
};

const COMPLETION = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1),
});
const PIECE = z.object({
  choices: z.array(z.object({ delta: z.object({ content: z.string().nullish() }) })),
});

/** Says of a failure that it is the stream's. */
async function streamed(run: () => Promise<unknown>): Promise<void> {
  await run().catch((error: unknown) => {
    if (error instanceof CheckFailure) throw new CheckFailure(`as a stream: ${error.message}`);
    throw error;
  });
}

/** Data of server-sent events, in their order. */
function eventsOf(answer: Answer): string[] {
  const lines = answer.bytes.toString('utf8').split('\n');
  return lines.filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length).trim());
}

function piecesOf(answer: Answer): string {
  const events = eventsOf(answer);
  demand(events.pop() === '[DONE]', `the stream does not end with [DONE]: ${shown(answer)}`);
  return events.map((event) => PIECE.parse(JSON.parse(event)).choices[0]?.delta.content ?? '').join('');
}

/** A text that the model continues, as a body of POST /run: of a chat, one message without its template. */
function continued({ golden }: ServerUnderTest): { prompt: string; run: Record<string, unknown> } {
  if (typeof golden['text'] !== 'string') {
    const messages = [{ role: 'user', content: PROMPT }];
    return { prompt: PROMPT, run: { messages, params: { ...SHORT, apply_chat_template: false } } };
  }
  return { prompt: golden['text'], run: { text: golden['text'], params: SHORT } };
}

const isWriter = ({ described }: ServerUnderTest): boolean => described.task === 'text-generation';

/** The answer without the prompt, which text generation puts before it. */
function withoutPrompt(server: ServerUnderTest, run: Record<string, unknown>): Record<string, unknown> {
  const { params } = run as { params: object };
  return isWriter(server) ? { ...run, params: { ...params, return_full_text: false } } : run;
}

export const completion: Recipe = (server, path) => {
  const { prompt, run } = continued(server);
  return sameAsRun(server, {
    ...{ run: withoutPrompt(server, run), wanted: writtenText },
    ask: () => post(server, { ...openAiShort(server), prompt }, { path }),
    found: (answer) => TEXTS.parse(jsonOf(answer)).choices[0]!.text,
  });
};

const TEXTS = z.object({ choices: z.array(z.object({ text: z.string() })).min(1) });

export const response: Recipe = (server, path) => {
  const { max_tokens, ...rest } = openAiShort(server);
  const body = { ...rest, max_output_tokens: max_tokens, input: textMessages(server) };
  return sameAsRun(server, {
    ...{ run: { messages: textMessages(server), params: SHORT }, wanted: writtenText },
    ask: () => post(server, body, { path }),
    found: (answer) =>
      ITEMS.parse(jsonOf(answer))
        .output.flatMap(({ type, content }) => (type === 'message' ? content : []))
        .map(({ text }) => text ?? '')
        .join(''),
  });
};

const PART_TEXTS = z.array(z.looseObject({ text: z.string().optional() }));
const ITEMS = z.object({
  output: z.array(z.looseObject({ type: z.string(), content: PART_TEXTS.catch([]) })),
});

export const anthropicMessage: Recipe = (server, path) =>
  sameAsRun(server, {
    ...{ run: { messages: textMessages(server), params: SHORT }, wanted: writtenText },
    ask: () => post(server, { ...openAiShort(server), messages: textMessages(server) }, { path }),
    found: (answer) => {
      const { content } = z.object({ content: PART_TEXTS }).parse(jsonOf(answer));
      return content.map(({ text }) => text ?? '').join('');
    },
  });

export const anthropicCount: Recipe = async (server, path) => {
  const body = { model: server.described.model, messages: textMessages(server) };
  const answer = await post(server, body, { path });
  const run = await post(server, { messages: textMessages(server), params: SHORT });
  if (run.status !== 200) {
    demand(answer.status !== 200, `POST /run says ${shown(run)}, and this route ${shown(answer)}`);
    return `refused as by POST /run: ${run.status}`;
  }
  const { input_tokens: count } = z.object({ input_tokens: z.int().min(1) }).parse(jsonOf(answer));
  return `${count} tokens`;
};

const ollamaShort = ({ described }: ServerUnderTest) => ({
  model: described.model,
  options: { num_predict: SHORT.max_new_tokens, temperature: 0 },
});

export const ollamaChat: Recipe = async (server, path) => {
  const body = { ...ollamaShort(server), messages: textMessages(server) };
  const run = { messages: textMessages(server), params: SHORT };
  const seen = await sameAsRun(server, {
    ...{ run, wanted: writtenText, ask: () => post(server, { ...body, stream: false }, { path }) },
    found: (answer) => LINE.parse(jsonOf(answer)).message?.content,
  });
  await streamed(() =>
    sameAsRun(server, {
      ...{ run, wanted: writtenText, ask: () => post(server, body, { path }) },
      found: (answer) => linesOf(answer),
    }),
  );
  return seen;
};

const LINE = z.looseObject({
  message: z.looseObject({ content: z.string() }).optional(),
  response: z.string().optional(),
  done: z.boolean(),
});

function linesOf(answer: Answer): string {
  const lines = answer.bytes.toString('utf8').trim().split('\n');
  const read = lines.map((line) => LINE.parse(JSON.parse(line)));
  demand(read.at(-1)?.done === true, `the last line does not say that it is done: ${shown(answer)}`);
  return read.map(({ message }) => message?.content ?? '').join('');
}

export const ollamaGenerate: Recipe = (server, path) => {
  const text = server.golden['text'];
  const prompt = typeof text === 'string' ? text : PROMPT;
  const params = isWriter(server) ? { ...SHORT, return_full_text: false } : SHORT;
  const run = isWriter(server)
    ? { text: prompt, params }
    : { messages: [{ role: 'user', content: prompt }], params };
  return sameAsRun(server, {
    ...{ run, wanted: writtenText },
    ask: () => post(server, { ...ollamaShort(server), prompt, stream: false }, { path }),
    found: (answer) => LINE.parse(jsonOf(answer)).response,
  });
};

/** POST /generate_stream of Text Generation Inference: the last event has the whole text. */
export const generateStream: Recipe = (server, path) => {
  const text = server.golden['text'];
  const isText = typeof text === 'string';
  const run = isText ? { text, params: SHORT } : { messages: textMessages(server), params: SHORT };
  const inputs = isText ? text : textMessages(server);
  return sameAsRun(server, {
    ...{
      run: withoutPrompt(server, run),
      wanted: writtenText,
    },
    ask: () => post(server, { inputs, parameters: SHORT }, { path }),
    found: (answer) => {
      const last = eventsOf(answer).at(-1);
      demand(last !== undefined, `no events: ${shown(answer)}`);
      return z.object({ generated_text: z.string() }).parse(JSON.parse(last)).generated_text;
    },
  });
};
