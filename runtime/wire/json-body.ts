import type { Request, Response } from 'express';
import { RunError } from '../core/errors.js';
import { DEFAULTS } from '../core/limits.js';
import type { ByteBudget, ReserveBytes } from './byte-budget.js';
import { readBodyBytes } from './body-buffer.js';
import { contentDecoder } from './content-encoding.js';
import { scanJson } from './json-scan.js';
import { type LongText, parseScanned, parseShort } from './json-text.js';
import { inTurns } from './turns.js';

export interface JsonBodyOptions {
  /** Longest body, as sent and after decompression. */
  maxBytes: number;
  /** Arrays, objects and what is in them (MAX_BODY_VALUES). */
  maxValues?: number;
  /** The variable that sets `maxBytes`, for the error message; absent for fixed limits. */
  setting?: string;
  budget: ByteBudget;
  /** Keep long Base64 media as bytes, since strings would take as much memory again. */
  mediaApart?: boolean;
  /** Tell numbers apart as Python does, where chat templates see them (python-numbers.ts). */
  pythonNumbers?: boolean;
}

/** A JSON body's value. */
export interface JsonBody {
  /** `{}` for no body. */
  json: unknown;
  /** Media kept as bytes, by their placeholder in `json`. */
  media: ReadonlyMap<string, LongText>;
  /** Releases the reserved bytes before the response closes, when the value is not needed any more. */
  release(): void;
}

/**
 * Reads a JSON body. Bytes are counted as they arrive, values are counted before they are parsed, and no step blocks the
 * event loop for more than a few milliseconds. So neither a burst of bodies, nor a false announced length, nor a body of a
 * million objects uses up memory, budget or time of other requests.
 */
export async function readJsonBody(
  request: Request,
  response: Response,
  options: JsonBodyOptions,
): Promise<JsonBody> {
  requireJsonType(request.headers['content-type']);
  return parseJsonBody(await readRawBody(request, response, options), response, options);
}

/** A body as it came, decompressed. */
export interface RawBody {
  bytes: Buffer;
  /** Reserves more bytes, or gives some back, until the response closes. */
  hold: ReserveBytes;
}

/** The value of a body that has been read. @throws RunError 400 for what is no JSON */
export async function parseJsonBody(
  { bytes: sent, hold }: RawBody,
  response: Response,
  options: JsonBodyOptions,
): Promise<JsonBody> {
  const bytes = sent.length === 0 ? NOTHING : sent;
  const media = new Map<string, LongText>();
  const { json, cost } = await parse(bytes, response, {
    ...{ ...options, hold },
    ...(options.mediaApart ? { media } : {}),
  });
  // Media kept as bytes still refer to the buffer.
  const text = media.size > 0 ? bytes.length : 0;
  hold(text - bytes.length);
  return { json, media, release: () => hold(-cost - text) };
}

/**
 * Checks a JSON body that is passed on unchanged.
 * @param check called with the value, in which strings of 64 KiB and more are truncated; its errors are thrown on
 * @returns the body's text as UTF-8
 */
export async function checkJsonBody(
  { bytes: sent, hold }: RawBody,
  response: Response,
  options: JsonBodyOptions & { check: (json: unknown) => void },
): Promise<Buffer> {
  const bytes = sent.length === 0 ? NOTHING : sent;
  // The value can be garbage-collected after the check.
  hold(-(await checked(bytes, response, { ...options, hold })));
  return bytes;
}

async function checked(
  bytes: Buffer,
  response: Response,
  { check, ...options }: Parsing & { check: (json: unknown) => void },
): Promise<number> {
  const { json, cost } = await parse(bytes, response, { ...options, cut: true });
  check(json);
  return cost;
}

/** Reads a body of any type, within the limits. */
export async function readRawBody(
  request: Request,
  response: Response,
  { maxBytes, setting, budget }: JsonBodyOptions,
): Promise<RawBody> {
  const decode = contentDecoder(request.headers['content-encoding']);
  const hold = budget.open(response);
  if (expectsContinue(request)) response.writeContinue();
  const sent = await readBodyBytes(request, response, { maxBytes, setting, hold });
  if (sent.length === 0) return { bytes: sent, hold: () => {} };
  const bytes = await decode(sent, response, { maxBytes, setting, hold });
  if (bytes !== sent) hold(-sent.length);
  return { bytes, hold };
}

const NOTHING = Buffer.from('{}');

/** With `Expect: 100-continue` the client sends the body on request, so a refused one is not sent at all. */
function expectsContinue({ headers, httpVersion }: Request): boolean {
  return httpVersion === '1.1' && headers.expect?.toLowerCase() === '100-continue';
}

/** Whether a content type says that the body is JSON. */
export const isJsonType = (type: string): boolean => JSON_TYPE.test(type.trim());

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;(?:.*\bcharset="?([\w-]+))?|$)/i;

/** A missing content type counts as JSON. @throws RunError 415 */
export function requireJsonType(type = 'application/json'): void {
  const found = JSON_TYPE.exec(type.trim());
  if (!found) throw new RunError('unsupported_media', 'the content type must be application/json');
  if (found[1] && !/^(?:utf-?8|us-ascii)$/i.test(found[1]))
    throw new RunError('unsupported_media', 'the body must be UTF-8');
}

/** Shorter texts are parsed at once. */
const SHORT_BYTES = 2 ** 13;

/** Most memory of a value in addition to its text. */
const VALUE_BYTES = 64;

type Parsing = JsonBodyOptions & { hold: ReserveBytes; cut?: boolean; media?: Map<string, LongText> };

/** @returns the value, and the bytes reserved for it in addition to the text */
async function parse(
  bytes: Buffer,
  response: Response,
  { maxValues = DEFAULTS.maxBodyValues, hold, ...how }: Parsing,
): Promise<{ json: unknown; cost: number }> {
  if (bytes.length <= Math.min(SHORT_BYTES, maxValues)) {
    hold(bytes.length);
    return { json: parseShort(bytes, how.pythonNumbers), cost: bytes.length };
  }
  return inTurns(response, async (pause) => {
    const scanned = await scanJson(bytes, { maxValues }, pause);
    const cost = (how.cut || how.media ? scanned.rest : bytes.length) + scanned.values * VALUE_BYTES;
    hold(cost);
    return { json: await parseScanned(bytes, scanned, { pause, ...how }), cost };
  });
}
