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
  /** The variable that sets `maxBytes`, for whoever meets it; none where it is fixed. */
  setting?: string;
  budget: ByteBudget;
  /** A long medium in Base64 stays as it came: as a string it would be as much memory again. */
  mediaApart?: boolean;
}

/** A JSON body's value. */
export interface JsonBody {
  /** `{}` for no body. */
  json: unknown;
  /** Media that were left apart, by what stands in their place. */
  media: ReadonlyMap<string, LongText>;
  /** To be called when the value is needed no more, where that is before the end of the response. */
  release(): void;
}

/**
 * Reads a JSON body. Every byte is counted when it comes, what it would become is counted before anything is made of
 * it, and no step takes longer than a few milliseconds: neither a burst of bodies, nor an announced length that never
 * comes, nor a body of a million objects fills the memory, the budget or the time of the others.
 */
export async function readJsonBody(
  request: Request,
  response: Response,
  options: JsonBodyOptions,
): Promise<JsonBody> {
  const { bytes, hold } = await readBytes(request, response, options);
  const media = new Map<string, LongText>();
  const { json, cost } = await parse(bytes, response, {
    ...{ ...options, hold },
    ...(options.mediaApart ? { media } : {}),
  });
  // Media that were left apart are still there.
  const text = media.size > 0 ? bytes.length : 0;
  hold(text - bytes.length);
  return { json, media, release: () => hold(-cost - text) };
}

/**
 * The same for those who pass the body on.
 * @param check is shown the value, with no more than the beginnings of strings of 64 KiB and more; what it throws is thrown
 * @returns the body's text as UTF-8
 */
export async function readCheckedJsonBody(
  request: Request,
  response: Response,
  { check, ...options }: JsonBodyOptions & { check: (json: unknown) => void },
): Promise<Buffer> {
  const { bytes, hold } = await readBytes(request, response, options);
  hold(-(await checked(bytes, response, { ...options, hold, check })));
  return bytes;
}

/** A function of its own, so that nothing keeps the value once it has been looked at. */
async function checked(
  bytes: Buffer,
  response: Response,
  { check, ...options }: Parsing & { check: (json: unknown) => void },
): Promise<number> {
  const { json, cost } = await parse(bytes, response, { ...options, cut: true });
  check(json);
  return cost;
}

async function readBytes(
  request: Request,
  response: Response,
  { maxBytes, setting, budget }: JsonBodyOptions,
): Promise<{ bytes: Buffer; hold: ReserveBytes }> {
  checkType(request.headers['content-type']);
  const decode = contentDecoder(request.headers['content-encoding']);
  const hold = budget.open(response);
  if (expectsContinue(request)) response.writeContinue();
  const sent = await readBodyBytes(request, response, { maxBytes, setting, hold });
  if (sent.length === 0) return { bytes: NOTHING, hold: () => {} };
  const bytes = await decode(sent, response, { maxBytes, setting, hold });
  if (bytes !== sent) hold(-sent.length);
  return { bytes, hold };
}

const NOTHING = Buffer.from('{}');

/** Then the body comes when it is asked for; who is refused before that has not sent it in vain. */
function expectsContinue({ headers, httpVersion }: Request): boolean {
  return httpVersion === '1.1' && headers.expect?.toLowerCase() === '100-continue';
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;(?:.*\bcharset="?([\w-]+))?|$)/i;

/** No content type counts as JSON. */
function checkType(type = 'application/json'): void {
  const found = JSON_TYPE.exec(type.trim());
  if (!found) throw new RunError('unsupported_media', 'the content type must be application/json');
  if (found[1] && !/^(?:utf-?8|us-ascii)$/i.test(found[1]))
    throw new RunError('unsupported_media', 'the body must be UTF-8');
}

/** What is shorter can't become much, and is parsed at once. */
const SHORT = 2 ** 13;

/** What a value takes beside its text, at most. */
const VALUE_BYTES = 64;

type Parsing = JsonBodyOptions & { hold: ReserveBytes; cut?: boolean; media?: Map<string, LongText> };

/** @returns the value, and the bytes that are held for it beside those of the text */
async function parse(
  bytes: Buffer,
  response: Response,
  { maxValues = DEFAULTS.maxBodyValues, hold, ...how }: Parsing,
): Promise<{ json: unknown; cost: number }> {
  if (bytes.length <= Math.min(SHORT, maxValues)) {
    hold(bytes.length);
    return { json: parseShort(bytes), cost: bytes.length };
  }
  return inTurns(response, async (pause) => {
    const scanned = await scanJson(bytes, { maxValues }, pause);
    const cost = (how.cut || how.media ? scanned.rest : bytes.length) + scanned.values * VALUE_BYTES;
    hold(cost);
    return { json: await parseScanned(bytes, scanned, { pause, ...how }), cost };
  });
}
