import type { IncomingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { Agent, type Dispatcher } from 'undici';
import { RunError } from '../../runtime/core/errors.js';
import { USAGE_HEADERS } from '../../runtime/core/usage.js';
import { JSON_TYPE } from '../../runtime/wire/respond.js';
import { callContext } from './call-context.js';
import { sumTokens, readUsageHeaders } from './usage-headers.js';

/** No time limits: a model may think for long, and the container has its own deadline. */
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connections: 256, pipelining: 1 });

/** What the container needs to know of a caller: how it wants to be answered. */
const PASSED_ON = ['accept', 'lang'];

/** What a caller is told of a container's headers: how to read the answer. */
const PASSED_BACK = [
  ...['content-type', 'content-length', 'cache-control', 'x-accel-buffering', 'retry-after'],
  ...Object.values<string>(USAGE_HEADERS),
];

/** Questions to containers that have not been answered to their end. */
export function pendingRequests(): number {
  return Object.values(agent.stats).reduce((sum, { running, pending }) => sum + running + pending, 0);
}

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
  const answer = await requestContainer(to.url, { ...to, headers: passedOn(request.headers) });
  response.statusCode = answer.statusCode;
  for (const name of PASSED_BACK) {
    const value = answer.headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
  if (isJson(answer)) response.setHeader('Content-Type', JSON_TYPE);
  for (const [name, value] of Object.entries(to.onHeaders())) response.setHeader(name, value);
  callContext(response).tokens = sumTokens([readUsageHeaders(answer.headers)]);
  if (isShort(answer)) return endWith(response, answer, to.signal);
  // Log, limits, budget and the pipeline all watch for its end: no leak.
  response.setMaxListeners(32);
  // With the signal, so that a caller who has left is no fault of the model's in the log.
  await pipeline(answer.body, response, { signal: to.signal }).catch((error: unknown) => {
    to.signal.throwIfAborted();
    throw error;
  });
}

const SHORT_BYTES = 2 ** 16;

function isShort(answer: Dispatcher.ResponseData): boolean {
  return isJson(answer) && Number(answer.headers['content-length'] ?? Infinity) <= SHORT_BYTES;
}

/** In one write, and so that an answer that breaks off is still an error with a status: nothing of it has gone out. */
async function endWith(
  response: Response,
  { body }: Dispatcher.ResponseData,
  signal: AbortSignal,
): Promise<void> {
  const bytes = await body.bytes().catch((error: unknown) => {
    signal.throwIfAborted();
    for (const name of PASSED_BACK) response.removeHeader(name);
    throw new RunError('engine_crashed', 'the model broke off; try again', { cause: error });
  });
  response.end(bytes);
}

export interface ContainerRequest {
  /** JSON. */
  body: Buffer | string;
  headers: Record<string, string>;
  signal: AbortSignal;
}

/**
 * Sends a body to POST /run of a container.
 * @throws RunError `engine_crashed` when no model answers, or the signal's reason
 */
export async function requestContainer(
  url: string,
  { body, headers, signal }: ContainerRequest,
): Promise<Dispatcher.ResponseData> {
  const question = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } } as const;
  const asked = agent.request({ ...placeOf(url), ...question, body, signal });
  const answer = await asked.catch((error: unknown) => {
    signal.throwIfAborted();
    throw new RunError('engine_crashed', 'the model does not answer; try again', { cause: error });
  });
  if (isModels(answer)) return answer;
  void answer.body.dump().catch(() => undefined);
  const cause = `${url} answers ${answer.statusCode} with ${String(answer.headers['content-type'])}`;
  throw new RunError('engine_crashed', 'the model does not answer; try again', { cause });
}

/** Cheaper than an address that undici takes apart, and that every call would pay. @param url may have a path, no query */
function placeOf(url: string): { origin: string; path: string } {
  const end = url.indexOf('/', url.indexOf('//') + 2);
  return end < 0
    ? { origin: url, path: '/run' }
    : { origin: url.slice(0, end), path: `${url.slice(end)}/run` };
}

/** False for what proxies and strangers say: pages, redirects, a demand for some other key. */
function isModels(answer: Dispatcher.ResponseData): boolean {
  if (answer.statusCode === 401) return false;
  if (answer.statusCode !== 200) return isJson(answer);
  return /^(?:application\/json|text\/plain|text\/event-stream|(?:image|audio|video)\/)/i.test(
    typeOf(answer),
  );
}

function isJson(answer: Dispatcher.ResponseData): boolean {
  return /^application\/json\b/i.test(typeOf(answer));
}

function typeOf({ headers }: Dispatcher.ResponseData): string {
  return String(headers['content-type'] ?? '');
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  );
}
