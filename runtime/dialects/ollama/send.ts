import type { Usage } from '../../core/usage.js';
import { writeChunk } from '../../wire/lifetime.js';
import { asRunError, sendJson } from '../../wire/respond.js';
import { argumentsOf, type ChatAnswer } from '../chat/answer.js';
import { collectCalls } from '../chat/collect-calls.js';
import { answerChat, type ChatRequest, streamChat } from '../chat/request.js';
import type { DialectCall } from '../dialect.js';
import type { streamEvents } from '../events.js';
import type { AnswerPiece, ServedModel } from '../host.js';
import { taggedName } from './names.js';

export interface Sending {
  /** From performance.now(). */
  arrived: number;
  /** Answers of chats are messages, others are texts. */
  kind: 'chat' | 'generate';
  stream: boolean;
}

/** What one line of an answer holds. */
interface Part {
  text?: string;
  thinking?: string;
  calls?: readonly { function: { name: string; arguments: unknown } }[];
}

/** Sends the answer to a conversation as Ollama does: in lines of JSON, or whole. */
export async function sendAnswer(call: DialectCall, asking: ChatRequest, sending: Sending): Promise<void> {
  const lines = linesOf(asking.model, sending);
  if (!sending.stream)
    return answerChat(call, asking, (answer, usage) =>
      sendJson(call.response, 200, JSON.stringify(lines.line(partOf(answer), lines.times.end(usage)))),
    );
  await streamChat(call, asking, (pieces) => sendLines(call, pieces, lines), streamLines);
}

/** Lines have no place for comments. */
const streamLines: typeof streamEvents = (_response, asked, body) => asked.stream(body);

/** How the lines of one answer are made. */
export function linesOf({ modelId }: ServedModel, { kind, arrived }: Sending): Lines {
  const head = () => ({ model: taggedName(modelId), created_at: new Date().toISOString() });
  return {
    line: (part, rest) => ({ ...head(), ...fieldsOf(kind, part), ...rest }),
    times: clock(arrived),
  };
}

export interface Lines {
  line(part: Part, rest: object): object;
  times: ReturnType<typeof clock>;
}

/** Sends the pieces of an answer as lines of JSON. */
export async function sendLines(
  { response }: DialectCall,
  pieces: AsyncIterable<AnswerPiece>,
  { line, times }: Lines,
): Promise<void> {
  response.statusCode = 200;
  response.setHeader('Content-Type', 'application/x-ndjson');
  const calls = collectCalls();
  let usage: Usage | undefined;
  const send = (part: Part) => writeChunk(response, `${JSON.stringify(line(part, { done: false }))}\n`);
  try {
    for await (const piece of pieces) {
      times.begin();
      if ('usage' in piece) usage = piece.usage;
      else if ('text' in piece) await send({ text: piece.text });
      else if ('reasoning' in piece) await send({ thinking: piece.reasoning });
      else if ('call' in piece) calls.add(piece.call);
    }
    if (calls.all().length > 0) await send({ calls: calls.all().map(callOf) });
  } catch (error) {
    const { message } = asRunError(error);
    await Promise.allSettled([writeChunk(response, `${JSON.stringify({ error: message })}\n`)]);
    throw error;
  }
  response.end(`${JSON.stringify(line({}, times.end(usage)))}\n`);
}

const callOf = (call: ChatAnswer['calls'][number]) => ({
  function: { name: call.function.name, arguments: argumentsOf(call) },
});

const partOf = ({ content, reasoning, calls }: ChatAnswer): Part => ({
  text: content,
  ...(reasoning === '' ? {} : { thinking: reasoning }),
  ...(calls.length === 0 ? {} : { calls: calls.map(callOf) }),
});

function fieldsOf(kind: Sending['kind'], { text = '', thinking, calls }: Part): object {
  const thought = thinking === undefined ? {} : { thinking };
  if (kind === 'generate') return { response: text, ...thought };
  const message = { role: 'assistant', content: text, ...thought };
  return { message: calls ? { ...message, tool_calls: calls } : message };
}

const NANOSECONDS = 1e6;

/** Durations in nanoseconds: until the first piece, and from there on. */
function clock(arrived: number) {
  let first: number | undefined;
  return {
    begin() {
      first ??= performance.now();
    },
    /** What the last line tells. */
    end(usage: Usage | undefined) {
      const now = performance.now();
      const begun = first ?? now;
      return {
        done: true,
        done_reason: usage?.finish?.[0] === 'length' ? 'length' : 'stop',
        total_duration: Math.round((now - arrived) * NANOSECONDS),
        load_duration: 0,
        prompt_eval_count: usage?.tokensIn ?? 0,
        prompt_eval_duration: Math.round((begun - arrived) * NANOSECONDS),
        eval_count: usage?.tokensOut ?? 0,
        eval_duration: Math.round((now - begun) * NANOSECONDS),
      };
    },
  };
}
