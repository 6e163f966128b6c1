import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Delta } from '../../runtime/core/delta.js';
import { type ErrorCode, RunError, STATUS } from '../../runtime/core/errors.js';
import type { FinishReason, Usage } from '../../runtime/core/usage.js';
import { stringifyNumbers } from '../../runtime/wire/python-numbers.js';
import type { AnswerPiece, ModelAnswer } from '../../runtime/dialects/host.js';
import type { Envelope } from '../../runtime/wire/respond.js';
import { requestContainer, type Target } from './proxy.js';
import { readUsageHeaders } from './usage-headers.js';

interface RunRequest {
  /** Body of POST /run. */
  body: Record<string, unknown>;
  signal: AbortSignal;
}

/**
 * Asks a container for a whole answer.
 * @throws RunError with the container's status and message when it refuses
 */
export async function requestAnswer(target: Target, { body, signal }: RunRequest): Promise<ModelAnswer> {
  const text = stringifyNumbers(body);
  const answer = await requestContainer(target, { body: text, headers: {}, signal });
  const { error, output } = await envelopeOf(answer.body, signal);
  if (answer.statusCode !== 200) throw refusal(answer.statusCode, error, answer.headers);
  return { output, usage: readUsageHeaders(answer.headers) };
}

/**
 * Requests a streamed answer from a container. Resolves when the stream has begun.
 * @throws RunError as `requestAnswer` does; the iterator throws when the answer breaks off
 */
export async function requestStream(
  target: Target,
  { body, signal }: RunRequest,
): Promise<AsyncIterable<AnswerPiece>> {
  const text = stringifyNumbers({ ...body, stream: true });
  const answer = await requestContainer(target, {
    ...{ body: text, signal },
    headers: { accept: 'text/event-stream' },
  });
  if (answer.statusCode === 200) return readPieces(answer.body);
  const { error } = await envelopeOf(answer.body, signal);
  throw refusal(answer.statusCode, error, answer.headers);
}

async function envelopeOf(body: { text(): Promise<string> }, signal: AbortSignal): Promise<Envelope> {
  const text = await body.text().catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new RunError('engine_crashed', 'the model broke off; try again', { cause });
  });
  const json = parseJson(text);
  if (typeof json === 'object' && json !== null && 'output' in json) return json as Envelope;
  throw new RunError('engine_crashed', 'the model broke off; try again', {
    cause: 'its answer is no envelope',
  });
}

/** Replaces the parser's error, which quotes the text: answers must not get into a log. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RunError('engine_crashed', 'the model broke off; try again', {
      cause: 'its answer is no JSON',
    });
  }
}

const CODES = new Map(Object.entries(STATUS).map(([code, status]) => [status, code as ErrorCode]));

function refusal(status: number, error: string | null, headers: IncomingHttpHeaders): RunError {
  const retryAfter = Number(headers['retry-after']);
  return new RunError(CODES.get(status as never) ?? 'engine_failed', error ?? 'the model failed', {
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
  });
}

async function* readPieces(body: Readable): AsyncGenerator<AnswerPiece> {
  let ended = false;
  for await (const { event, data } of readEvents(body)) {
    const fields = parseJson(data) as Record<string, unknown>;
    // Containers are ours: what they stream without a name is a Delta.
    if (event === undefined) yield fields as unknown as Delta;
    else if (event === 'error') throw new RunError('engine_crashed', String(fields['error']));
    else {
      ended = true;
      yield { usage: finalUsage(fields['usage'] as FinalUsage | undefined) };
    }
  }
  if (!ended) throw new RunError('engine_crashed', 'the answer broke off; try again');
}

async function* readEvents(body: Readable): AsyncGenerator<EventSourceMessage> {
  const parsedEvents: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => parsedEvents.push(event) });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk as Buffer, { stream: true }));
    yield* parsedEvents.splice(0);
  }
}

interface FinalUsage {
  tokens_in: number;
  tokens_out?: number;
  reasoning_tokens?: number;
  finish_reason?: FinishReason;
  stop_index?: number;
}

function finalUsage(usage: FinalUsage | undefined): Usage | undefined {
  if (!usage) return undefined;
  const {
    tokens_in: tokensIn,
    tokens_out: tokensOut,
    reasoning_tokens: reasoningTokens,
    finish_reason,
    stop_index: stop,
  } = usage;
  return {
    tokensIn,
    tokensOut: tokensOut ?? 0,
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(stop === undefined ? {} : { stops: [stop] }),
    ...(finish_reason ? { finish: [finish_reason] } : {}),
  };
}
