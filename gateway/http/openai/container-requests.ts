import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import pLimit from 'p-limit';
import { type ErrorCode, RunError, STATUS } from '../../../runtime/core/errors.js';
import type { FinishReason, Usage } from '../../../runtime/core/usage.js';
import type { Envelope } from '../../../runtime/wire/respond.js';
import { requestContainer } from '../proxy.js';
import { readUsageHeaders } from '../usage-headers.js';

interface Question {
  /** Of POST /run. */
  body: Record<string, unknown>;
  signal: AbortSignal;
}

/** A piece of text, or what all of it came to. */
export type StreamPiece =
  { text: string; usage?: undefined } | { text?: undefined; usage: Usage | undefined };

/** A container's whole answer. */
export interface ContainerAnswer {
  output: unknown;
  usage: Usage | undefined;
}

/**
 * Asks a container for several answers, some at a time. The first that fails ends the others.
 * @throws RunError with the container's status and message when it refuses
 */
export async function requestAll(
  url: string,
  bodies: readonly Question['body'][],
  { signal, sideBySide }: { signal: AbortSignal; sideBySide: number },
): Promise<ContainerAnswer[]> {
  const limit = pLimit(sideBySide);
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  setMaxListeners(0, either);
  const work = bodies.map((body) => limit(() => ask(url, { body, signal: either })));
  try {
    return await Promise.all(work);
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(work);
    throw error;
  }
}

async function ask(url: string, { body, signal }: Question): Promise<ContainerAnswer> {
  const answer = await requestContainer(url, { body: JSON.stringify(body), headers: {}, signal });
  const { error, output } = await envelopeOf(answer.body, signal);
  if (answer.statusCode !== 200) throw refusal(answer.statusCode, error, answer.headers);
  return { output, usage: readUsageHeaders(answer.headers) };
}

/**
 * Asks a container for its answer in pieces; comes back with the first of them.
 * @throws RunError as `askAll` does; from the iterator when the answer breaks off
 */
export async function requestStream(
  url: string,
  { body, signal }: Question,
): Promise<AsyncIterable<StreamPiece>> {
  const text = JSON.stringify({ ...body, stream: true });
  const answer = await requestContainer(url, {
    body: text,
    headers: { accept: 'text/event-stream' },
    signal,
  });
  if (answer.statusCode === 200) return pieces(answer.body);
  const { error } = await envelopeOf(answer.body, signal);
  throw refusal(answer.statusCode, error, answer.headers);
}

async function envelopeOf(body: { text(): Promise<string> }, signal: AbortSignal): Promise<Envelope> {
  const text = await body.text().catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new RunError('engine_crashed', 'the model broke off; try again', { cause });
  });
  return parsed(text) as Envelope;
}

/** What the parser says quotes the text, which may not get into a log. */
function parsed(text: string): unknown {
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
  const wait = Number(headers['retry-after']);
  return new RunError(CODES.get(status as never) ?? 'engine_failed', error ?? 'the model failed', {
    ...(Number.isFinite(wait) ? { retryAfter: wait } : {}),
  });
}

async function* pieces(body: Readable): AsyncGenerator<StreamPiece> {
  let over = false;
  for await (const { event, data } of events(body)) {
    const told = parsed(data) as Record<string, unknown>;
    if (event === undefined) yield { text: told['text'] as string };
    else if (event === 'error') throw new RunError('engine_crashed', String(told['error']));
    else {
      over = true;
      yield { usage: finalUsage(told['usage'] as FinalUsage | undefined) };
    }
  }
  if (!over) throw new RunError('engine_crashed', 'the answer broke off; try again');
}

async function* events(body: Readable): AsyncGenerator<EventSourceMessage> {
  const found: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => found.push(event) });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk as Buffer, { stream: true }));
    yield* found.splice(0);
  }
}

interface FinalUsage {
  tokens_in: number;
  tokens_out?: number;
  finish_reason?: FinishReason;
}

function finalUsage(told: FinalUsage | undefined): Usage | undefined {
  if (!told) return undefined;
  const { tokens_in: tokensIn, tokens_out: tokensOut, finish_reason } = told;
  return { tokensIn, tokensOut: tokensOut ?? 0, ...(finish_reason ? { finish: [finish_reason] } : {}) };
}
