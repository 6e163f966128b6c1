import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Delta, ToolCall } from '../../runtime/core/delta.js';
import type { Usage } from '../../runtime/core/usage.js';
import { collectCalls } from '../../runtime/dialects/chat/collect-calls.js';
import type { AnswerPiece, ModelAnswer } from '../../runtime/dialects/host.js';
import { PING_MS } from '../../runtime/wire/pings.js';
import { asRunError, envelope, JSON_TYPE } from '../../runtime/wire/respond.js';
import { usageEvent, usageHeaders } from '../../runtime/wire/usage.js';
import type { ContainerAnswer } from '../upstream/upstream.js';

/** A whole answer, as a container gives it. */
export function wholeAnswer({ output, usage }: ModelAnswer): ContainerAnswer {
  const body = Buffer.from(envelope({ error: null, output }));
  const headers = { 'content-type': JSON_TYPE, 'content-length': String(body.length) };
  return {
    statusCode: 200,
    headers: { ...headers, ...(usage ? usageHeaders(usage) : {}) },
    body: readableBody(Readable.from([body], { objectMode: false })),
  };
}

/** A body that can be read as a whole, too. */
export function readableBody(body: Readable): ContainerAnswer['body'] {
  return Object.assign(body, { text: () => text(body), bytes: () => buffer(body) });
}

/** How a stream is written: as text alone, or as events. */
export type StreamForm = 'text' | 'events';

/** All pieces of an answer together. */
export interface WholeText {
  text: string;
  reasoning: string;
  calls: ToolCall[];
}

export interface StreamParts {
  form: StreamForm;
  pieces: AsyncGenerator<AnswerPiece>;
  /** Makes the whole answer, which the last event holds. */
  output(whole: WholeText): unknown;
}

/**
 * A streamed answer, as a container gives it. Resolves with the first piece; events begin earlier where that takes long.
 * @throws what `pieces` throws before
 */
export async function streamedAnswer({ form, pieces, output }: StreamParts): Promise<ContainerAnswer> {
  const first = pieces.next();
  if (form === 'text') await first;
  else await settlesSoon(first);
  const begun: Begun = { first, rest: pieces };
  const chunks = form === 'text' ? textOf(begun) : eventsOf(begun, output);
  return {
    statusCode: 200,
    headers: {
      'content-type': `${form === 'text' ? 'text/plain' : 'text/event-stream'}; charset=utf-8`,
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    },
    body: readableBody(Readable.from(chunks, { objectMode: false, highWaterMark: 2 ** 14 })),
  };
}

interface Begun {
  first: Promise<IteratorResult<AnswerPiece, void>>;
  rest: AsyncGenerator<AnswerPiece, void>;
}

async function* piecesOf({ first, rest }: Begun): AsyncGenerator<AnswerPiece> {
  try {
    const { value } = await first;
    if (value) yield value;
    yield* rest;
  } finally {
    await rest.return();
  }
}

/** What breaks off closes the connection. */
async function* textOf(begun: Begun): AsyncGenerator<string> {
  for await (const piece of piecesOf(begun)) if ('text' in piece && piece.text !== '') yield piece.text;
}

async function* eventsOf(begun: Begun, output: StreamParts['output']): AsyncGenerator<string> {
  const whole = collectWhole();
  let usage: Usage | undefined;
  try {
    while (!(await settlesSoon(begun.first))) yield ': ping\n\n';
    for await (const piece of piecesOf(begun)) {
      if ('usage' in piece) usage = piece.usage;
      else yield event('', whole.add(piece));
    }
  } catch (error) {
    yield event('error', { error: asRunError(error).message });
    return;
  }
  yield event('final', { output: output(whole.all()), ...(usage ? { usage: usageEvent(usage) } : {}) });
}

/** False if it has not settled when a ping is due. @throws what it is rejected with */
async function settlesSoon(promise: Promise<unknown>): Promise<boolean> {
  const done = new AbortController();
  const due = sleep(PING_MS, false, { signal: done.signal, ref: false });
  due.catch(() => undefined);
  try {
    return await Promise.race([promise.then(() => true), due]);
  } finally {
    done.abort();
  }
}

/** Puts the pieces of an answer together. */
export function collectWhole() {
  const calls = collectCalls();
  let text = '';
  let reasoning = '';
  return {
    add(piece: Delta): Delta {
      if ('text' in piece) text += piece.text;
      else if ('reasoning' in piece) reasoning += piece.reasoning;
      else if ('call' in piece) calls.add(piece.call);
      return piece;
    },
    all: (): WholeText => ({ text, reasoning, calls: calls.all() }),
  };
}

function event(name: string, data: unknown): string {
  return `${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}
