import type { IncomingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { Agent, type Dispatcher, request as send } from 'undici';
import { RunError } from '../../runtime/core/errors.js';
import { noteCall } from './call.js';
import { tokensOf, usageOf } from './usage.js';

/** No time limits: a model may think for long, and the container has its own deadline. */
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connections: 256, pipelining: 1 });

/** What the container needs to know of a caller: how it wants to be answered. */
const PASSED_ON = ['accept', 'lang'];

/** Headers that belong to one connection, and those that the gateway sets itself. */
const OWN = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'date',
  'x-request-id',
  'upgrade',
  'trailer',
]);

export interface Forward {
  url: string;
  /** The JSON body as it came. */
  body: Buffer;
  signal: AbortSignal;
  /** Called when the answer's headers are there, before they go out. */
  onHeaders(): Record<string, string>;
}

/**
 * Passes a request on to a container and its answer back as it comes, no faster than the caller takes it.
 * @throws RunError `engine_crashed` when the container does not answer; once the answer has begun, the connection is cut
 */
export async function forward(request: Request, response: Response, to: Forward): Promise<void> {
  const answer = await askContainer(to.url, { ...to, headers: passedOn(request.headers) });
  response.status(answer.statusCode);
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined && !OWN.has(name)) response.setHeader(name, value);
  }
  for (const [name, value] of Object.entries(to.onHeaders())) response.setHeader(name, value);
  const tokens = tokensOf([usageOf(answer.headers)]);
  if (tokens) noteCall(response, { tokens });
  // Log, limits, budget and the pipeline all watch for its end: no leak.
  response.setMaxListeners(32);
  await pipeline(answer.body, response);
}

export interface Question {
  /** JSON. */
  body: Buffer | string;
  headers: Record<string, string>;
  signal: AbortSignal;
}

/**
 * Sends a body to POST /run of a container.
 * @throws RunError `engine_crashed` when nobody answers, or the signal's reason
 */
export async function askContainer(
  url: string,
  { body, headers, signal }: Question,
): Promise<Dispatcher.ResponseData> {
  return send(`${url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...{ body, signal, dispatcher: agent },
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new RunError('engine_crashed', 'the model does not answer; try again', { cause: error });
  });
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  );
}
