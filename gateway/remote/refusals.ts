import * as z from 'zod';
import { contextTooLong } from '../../runtime/core/context-length.js';
import { type ErrorCode, RunError } from '../../runtime/core/errors.js';
import { brokeOff } from './faults.js';
import type { Remote } from './remote.js';

/** An answer of a provider with another status than 2xx. */
export interface Refused {
  modelId: string;
  remote: Remote;
  status: number;
  /** The provider's words, cleaned. */
  message: string;
  /** The provider's name of the error; empty if it gives none. */
  code: string;
  /** Seconds, if the provider says how long to wait. */
  retryAfter?: number | undefined;
}

/** The error that the caller gets. What only the operator may know is in its cause, for the log. */
export function refusalOf(refused: Refused): RunError {
  const { status, remote } = refused;
  if (remote.kind === 'slipway' && PASSED.has(status)) return passedOn(refused);
  if (OPERATORS[status]) return forOperator(refused, OPERATORS[status]);
  if (status < 400) return forOperator(refused, REDIRECT);
  if (status === 429) return new RunError('rate_limited', 'Rate limit exceeded', withRetry(refused));
  if (status >= 500 || status === 408) return failed(refused);
  return tooLong(refused) ?? refusedRequest(refused);
}

/** What another gateway says of the request is as true here. */
const PASSED: ReadonlySet<number> = new Set([400, 413, 415, 422, 500]);

const CODES: Readonly<Record<number, ErrorCode>> = {
  ...{ 400: 'invalid_input', 413: 'payload_too_large', 415: 'unsupported_media', 422: 'unprocessable' },
  ...{ 408: 'timeout', 504: 'timeout', 500: 'engine_failed', 503: 'overloaded', 529: 'overloaded' },
};

function passedOn({ status, message }: Refused): RunError {
  return new RunError(CODES[status]!, message || 'the model failed');
}

/** What a caller can't mend: what the provider does, and the setting of the entry to check. */
const OPERATORS: Readonly<Record<number, { does: string; check: string }>> = {
  401: { does: 'refuses the key of this gateway', check: 'remote.keyFile' },
  402: { does: 'wants to be paid', check: 'the account of remote.keyFile' },
  403: { does: 'refuses the key of this gateway', check: 'remote.keyFile' },
  404: { does: 'does not know the address or the model', check: 'remote.url and remote.model' },
  405: { does: 'does not know the address', check: 'remote.url' },
};

const REDIRECT = { does: 'redirects to another address, which is not followed', check: 'remote.url' };

function forOperator(refused: Refused, { does, check }: { does: string; check: string }): RunError {
  const { modelId } = refused;
  const remedy = `its operator has to check ${check} of ${modelId} in the catalogue`;
  return new RunError('remote_failed', `the provider of ${modelId} ${does}; ${remedy}`, causeOf(refused));
}

function causeOf({ remote: { url, keyFile }, status, message }: Refused): { cause: string } {
  const key = keyFile === undefined ? 'no key is sent' : `the key is that of ${keyFile}`;
  return { cause: `${url} answers ${status} (${message}); ${key}` };
}

const withRetry = ({ retryAfter }: Refused) =>
  retryAfter === undefined ? {} : { retryAfter: Math.max(1, retryAfter) };

function failed(refused: Refused): RunError {
  const { modelId, status } = refused;
  const code = CODES[status] ?? 'engine_crashed';
  const does = code === 'timeout' ? 'took too long' : `can't answer now (${status})`;
  return new RunError(
    code === 'engine_failed' ? 'engine_crashed' : code,
    `the provider of ${modelId} ${does}; try again`,
    {
      ...withRetry(refused),
      ...causeOf(refused),
    },
  );
}

/** Only where the provider tells how long the prompt is. */
function tooLong({ remote, message, code }: Refused): RunError | undefined {
  if (!/context[_ ]length|context window|prompt is too long/i.test(`${code} ${message}`)) return undefined;
  const numbers = [...message.matchAll(/(\d{2,9}) tokens/g)].map(([, digits]) => Number(digits));
  const context = remote.context ?? (numbers.length > 1 ? Math.min(...numbers) : undefined);
  const tokens = numbers.length > 0 ? Math.max(...numbers) : undefined;
  if (context === undefined || tokens === undefined || tokens < context) return undefined;
  return contextTooLong({ subject: 'the prompt has', tokens, context });
}

function refusedRequest({ modelId, status, message }: Refused): RunError {
  const said = message === '' ? '' : `: ${message}`;
  return new RunError(
    CODES[status] ?? 'invalid_input',
    `the provider of ${modelId} refuses the request${said}`,
  );
}

const inner = z.object({
  message: z.string().optional(),
  code: z.union([z.string(), z.number()]).nullish(),
  type: z.string().nullish(),
});

const errorBody = z.union([
  z.object({ error: z.union([inner, z.string()]) }),
  z.object({ detail: z.string() }).transform(({ detail }) => ({ error: detail })),
  inner.extend({ message: z.string() }).transform((error) => ({ error })),
]);

/** The provider's words and its name of the error, from any of the usual bodies; empty where it is none of them. */
export function errorIn(json: unknown): { message: string; code: string } {
  const parsed = errorBody.safeParse(json);
  if (!parsed.success) return { message: '', code: '' };
  const { error } = parsed.data;
  if (typeof error === 'string') return { message: error, code: '' };
  return { message: error.message ?? '', code: String(error.code ?? error.type ?? '') };
}

/** @throws RunError for an answer of status 200 that tells of an error all the same */
export function requireNoError(json: unknown, modelId: string): void {
  if (typeof json !== 'object' || json === null || !('error' in json) || json.error == null) return;
  throw brokeOff(modelId, errorIn(json).message);
}
