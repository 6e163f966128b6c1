import * as z from 'zod';
import type { Described } from './document.js';
import type { Answer, Transport } from './transport.js';

/** The server under test, as checks see it. */
export interface ServerUnderTest {
  transport: Transport;
  /** Headers of every call, such as the key. */
  headers: Readonly<Record<string, string>>;
  described: Described;
  /** The model's own example from /status: it needs no network, and the server tries itself with it. */
  example: Record<string, unknown>;
  /** The same with parameters that make answers short and equal. */
  golden: Record<string, unknown>;
  /** The answer recorded in a sealed image. */
  recorded?: { request: unknown; body: unknown } | undefined;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

export function get({ transport, headers }: ServerUnderTest, path: string, method = 'GET'): Promise<Answer> {
  return transport.send({ method, path, headers });
}

export interface RawCall {
  path?: string;
  type?: string;
  headers?: Record<string, string>;
}

/** POST /run with a body as it is. */
export function postRaw(
  { transport, headers }: ServerUnderTest,
  body: Buffer | string,
  { path = '/run', type = 'application/json', headers: own = {} }: RawCall = {},
): Promise<Answer> {
  const sent = { ...headers, 'content-type': type, ...own };
  return transport.send({ method: 'POST', path, headers: sent, body: Buffer.from(body) });
}

export function post(server: ServerUnderTest, body: unknown, call?: RawCall): Promise<Answer> {
  return postRaw(server, JSON.stringify(body), call);
}

/** A check has found that the server does something else than it should. */
export class CheckFailure extends Error {
  override name = 'CheckFailure';
}

/** @throws CheckFailure with the message unless the condition holds */
export function demand(condition: boolean, message: string): asserts condition {
  if (!condition) throw new CheckFailure(message);
}

const LONGEST = 160;

/** An answer in one line, for messages. */
export function shown({ status, headers, bytes }: Answer): string {
  const text = bytes.subarray(0, 4 * LONGEST).toString('utf8');
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return `${status} ${headers['content-type'] ?? 'without content type'} ${cut}`;
}

const ENVELOPE = z.strictObject({ error: z.union([z.string().min(1), z.null()]), output: z.unknown() });

export type Envelope = z.output<typeof ENVELOPE>;

/** The envelope of an answer, of any status. @throws CheckFailure for any other shape or content type */
export function envelopeOf(answer: Answer): Envelope {
  const type = answer.headers['content-type'];
  demand(type === JSON_TYPE, `the content type is not "${JSON_TYPE}": ${shown(answer)}`);
  let value: unknown;
  try {
    value = JSON.parse(answer.bytes.toString('utf8'));
  } catch {
    throw new CheckFailure(`not JSON: ${shown(answer)}`);
  }
  const parsed = ENVELOPE.safeParse(value);
  const isEnvelope = parsed.success && Object.hasOwn(value as object, 'output');
  demand(isEnvelope, `not {"error", "output"}: ${shown(answer)}`);
  return parsed.data;
}

/** @throws CheckFailure unless the answer is this output in the envelope */
export function outputOf(answer: Answer): unknown {
  demand(answer.status === 200, `expected 200: ${shown(answer)}`);
  const { error, output } = envelopeOf(answer);
  demand(error === null, `a 200 with an error: ${shown(answer)}`);
  return output;
}

/** What must not be in an error: lines of a stack trace and paths of the server. */
const LEAKS = /\n\s+at |node_modules|\/server\/|node:internal/;

/** @throws CheckFailure unless the answer is an error of one of these statuses, whose text has all the words */
export function requireError(answer: Answer, statuses: readonly number[], ...words: string[]): string {
  demand(statuses.includes(answer.status), `expected ${statuses.join(' or ')}: ${shown(answer)}`);
  const { error, output } = envelopeOf(answer);
  demand(error !== null && output === null, `not an error with a null output: ${shown(answer)}`);
  demand(!LEAKS.test(error), `the error shows the inside of the server: ${shown(answer)}`);
  for (const word of words) demand(error.includes(word), `the error does not name ${word}: ${shown(answer)}`);
  return error;
}
