import type { IncomingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { Agent, type Dispatcher } from 'undici';
import { RunError } from '../../runtime/core/errors.js';
import { type Usage, USAGE_HEADERS } from '../../runtime/core/usage.js';
import { JSON_TYPE, NOT_BEGUN } from '../../runtime/wire/respond.js';
import { traceHeaders } from '../../runtime/tracing/trace-context.js';
import { currentTrace } from '../../runtime/tracing/tracer.js';
import { callContext } from './call-context.js';
import { sumTokens } from '../../runtime/dialects/ask.js';
import type { ContainerAnswer, ContainerClient, RunCall } from '../upstream/upstream.js';
import { readUsageHeaders } from './usage-headers.js';

/** No timeouts: a model may run for long, and the container has its own deadline. */
export const UPSTREAM_POOLS = { headersTimeout: 0, bodyTimeout: 0, connections: 256, pipelining: 1 } as const;

const agent = new Agent(UPSTREAM_POOLS);

const unkept = new Agent(UPSTREAM_POOLS);

/** Each request on a connection of its own. */
export const newConnections: Dispatcher = unkept.compose(
  (dispatch) => (options, handler) => dispatch({ ...options, reset: true }, handler),
);

/** Message of a call that no server has answered. */
export const NO_ANSWER = 'the model does not answer; try again';

/** Request headers passed on to the container. */
const REQUEST_HEADERS = ['accept', 'lang'];

/** Response headers of the container passed back to the caller. */
const RESPONSE_HEADERS = [
  ...['content-type', 'content-length', 'cache-control', 'x-accel-buffering', 'retry-after'],
  ...Object.values<string>(USAGE_HEADERS),
];

/** Requests to containers whose response is not complete. */
export function pendingRequests(): number {
  const stats = [...Object.values(agent.stats), ...Object.values(unkept.stats)];
  return stats.reduce((sum, { running, pending }) => sum + running + pending, 0);
}

/** Where a model answers, and how it is reached. */
export interface Target {
  url: string;
  /** Instead of a direct connection. */
  dispatcher?: Dispatcher | undefined;
  /** Instead of HTTP to `url`. */
  client?: ContainerClient | undefined;
}

export interface Forward extends Target {
  /** The JSON body, unchanged. */
  body: Buffer;
  signal: AbortSignal;
  /** Called when the container's headers have arrived. @returns headers to add to the response */
  onHeaders(): Record<string, string>;
}

/**
 * Passes a request on to a container and streams its answer back with backpressure.
 * @throws RunError `engine_crashed` when the container does not answer. If the answer breaks off after it has begun, the
 * connection is closed.
 */
export async function forward(request: Request, response: Response, target: Forward): Promise<void> {
  const { body, signal } = target;
  const onUsage = (usage: Usage) => (callContext(response).tokens = sumTokens([usage]));
  const headers = requestHeaders(request.headers);
  const answer = await requestContainer(target, { body, signal, headers, onUsage });
  response.statusCode = answer.statusCode;
  for (const name of RESPONSE_HEADERS) {
    const value = answer.headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
  if (isJson(answer)) response.setHeader('Content-Type', JSON_TYPE);
  for (const [name, value] of Object.entries(target.onHeaders())) response.setHeader(name, value);
  callContext(response).tokens ??= sumTokens([readUsageHeaders(answer.headers)]);
  if (isShort(answer)) return sendBuffered(response, answer, target.signal);
  // Log, limits, budget and the pipeline all listen for `close`; this many listeners are no leak.
  response.setMaxListeners(32);
  // With the signal, so that the log does not blame the model when the caller has left.
  await pipeline(answer.body, response, { signal: target.signal }).catch((error: unknown) => {
    target.signal.throwIfAborted();
    throw error;
  });
}

const SHORT_BYTES = 2 ** 16;

function isShort(answer: ContainerAnswer): boolean {
  return isJson(answer) && Number(answer.headers['content-length'] ?? Infinity) <= SHORT_BYTES;
}

/** Reads the whole answer before writing: if it breaks off, the caller still gets an error with a status. */
async function sendBuffered(
  response: Response,
  { body }: ContainerAnswer,
  signal: AbortSignal,
): Promise<void> {
  const bytes = await body.bytes().catch((error: unknown) => {
    signal.throwIfAborted();
    for (const name of RESPONSE_HEADERS) response.removeHeader(name);
    throw new RunError('engine_crashed', 'the model broke off; try again', { cause: error });
  });
  response.end(bytes);
}

/**
 * Sends a body to POST /run of a container.
 * @throws RunError `engine_crashed` when no model answers, `stopping` when the server stops and has not begun, or the
 * signal's reason
 */
export async function requestContainer(
  { url, dispatcher = agent, client }: Target,
  request: RunCall,
): Promise<ContainerAnswer> {
  if (client) return client.run(request);
  const { body, headers, signal } = request;
  const trace = currentTrace.getStore();
  const followed = trace ? { ...headers, ...traceHeaders(trace) } : headers;
  const sent = dispatcher.request({
    ...splitUrl(url),
    ...{ method: 'POST', headers: { 'content-type': 'application/json', ...followed } },
    ...{ body, signal },
  });
  const answer = await sent.catch((error: unknown) => {
    signal.throwIfAborted();
    throw new RunError('engine_crashed', NO_ANSWER, { cause: error });
  });
  const hasNotBegun = answer.headers[NOT_BEGUN.name] === NOT_BEGUN.value;
  if (isModelAnswer(answer) && !hasNotBegun) return answer;
  void answer.body.dump().catch(() => undefined);
  if (hasNotBegun) throw new RunError('stopping', 'the server is stopping; try again', { retryAfter: 5 });
  const cause = `${url} answers ${answer.statusCode} with ${String(answer.headers['content-type'])}`;
  throw new RunError('engine_crashed', NO_ANSWER, { cause });
}

/** Splits the address by hand: cheaper for every call than undici's parser. @param url may have a path, but no query */
function splitUrl(url: string): { origin: string; path: string } {
  const end = url.indexOf('/', url.indexOf('//') + 2);
  return end < 0
    ? { origin: url, path: '/run' }
    : { origin: url.slice(0, end), path: `${url.slice(end)}/run` };
}

/** False for answers of other servers, such as a proxy: HTML pages, redirects, a 401. */
function isModelAnswer(answer: ContainerAnswer): boolean {
  if (answer.statusCode === 401) return false;
  if (answer.statusCode !== 200) return isJson(answer);
  return /^(?:application\/json|text\/plain|text\/event-stream|(?:image|audio|video)\/)/i.test(
    contentTypeOf(answer),
  );
}

function isJson(answer: ContainerAnswer): boolean {
  return /^application\/json\b/i.test(contentTypeOf(answer));
}

function contentTypeOf({ headers }: ContainerAnswer): string {
  return headers['content-type'] ?? '';
}

function requestHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    REQUEST_HEADERS.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  );
}
