import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';
import { RunError } from '../core/errors.js';
import type { ByteBudget, Hold } from './byte-budget.js';
import { goneAway } from './lifetime.js';

export interface JsonBodyOptions {
  /** Longest body, as sent and after decompression. */
  maxBytes: number;
  /** The variable that sets it, for whoever meets it; none where it is fixed. */
  setting?: string;
  budget: ByteBudget;
}

/** Reads a JSON body into `request.body`; none is `{}`. */
export function jsonBody(options: JsonBodyOptions): RequestHandler {
  return async (request, response, next) => {
    request.body = (await readJson(request, response, options)).json;
    next();
  };
}

/**
 * Reads a JSON body. Every byte is counted when it comes, so that neither a burst of bodies nor an announced length that
 * never comes fills the memory or the budget.
 * @returns the value, `{}` for none, and its text as UTF-8
 */
export async function readJson(
  request: Request,
  response: Response,
  { maxBytes, setting, budget }: JsonBodyOptions,
): Promise<{ json: unknown; bytes: Buffer }> {
  checkType(request.headers['content-type']);
  const decode = decoderOf(request.headers['content-encoding']);
  const hold = budget.open(response);
  if (expectsContinue(request)) response.writeContinue();
  const sent = await readAll(request, { maxBytes, setting, hold });
  if (sent.length === 0) return { json: {}, bytes: Buffer.from('{}') };
  const bytes = await decode(sent, { maxBytes, setting, hold });
  return { json: parse(bytes), bytes };
}

/** Then the body comes when it is asked for; who is refused before that has not sent it in vain. */
function expectsContinue({ headers, httpVersion }: Request): boolean {
  return httpVersion === '1.1' && headers.expect?.toLowerCase() === '100-continue';
}

interface Limits {
  maxBytes: number;
  setting: string | undefined;
  hold: Hold;
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;(?:.*\bcharset="?([\w-]+))?|$)/i;

/** No content type counts as JSON. */
function checkType(type = 'application/json'): void {
  const found = JSON_TYPE.exec(type.trim());
  if (!found) throw new RunError('unsupported_media', 'the content type must be application/json');
  if (found[1] && !/^(?:utf-?8|us-ascii)$/i.test(found[1]))
    throw new RunError('unsupported_media', 'the body must be UTF-8');
}

/** By events: an iterator would be most of what a short body costs. */
function readAll(request: Request, limits: Limits): Promise<Buffer> {
  const { maxBytes, hold } = limits;
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const left = () => reject(goneAway());
    if (request.destroyed) return left();
    const take = (chunk: Buffer) => {
      try {
        size += chunk.length;
        if (size > maxBytes) throw tooLarge(limits);
        hold(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        // The rest flows on and is thrown away: a client that is still sending would miss the answer otherwise.
        request.off('data', take);
        reject(error);
      }
    };
    request.on('data', take);
    request.once('close', left);
    request.once('end', () => {
      request.off('close', left);
      resolve(Buffer.concat(chunks));
    });
  });
}

type Inflate = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const INFLATE: Record<string, Inflate> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

function decoderOf(encoding = 'identity'): (bytes: Buffer, limits: Limits) => Promise<Buffer> | Buffer {
  const name = encoding.trim().toLowerCase();
  if (name === 'identity') return (bytes) => bytes;
  const inflated = Object.hasOwn(INFLATE, name) ? INFLATE[name] : undefined;
  if (!inflated)
    throw new RunError('unsupported_media', 'the body may be plain or compressed with gzip, deflate or br');
  return async (bytes, limits) => {
    const { maxBytes, hold } = limits;
    const plain = await inflated(bytes, { maxOutputLength: maxBytes }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limits);
        throw new RunError('invalid_input', `the body is not valid ${name}`);
      },
    );
    hold(plain.length);
    return plain;
  };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new RunError('invalid_input', 'the body is not valid JSON in UTF-8');
  }
}

function tooLarge({ maxBytes, setting }: Limits): RunError {
  const where = setting === undefined ? '' : ` (${setting})`;
  return new RunError('payload_too_large', `the body is larger than ${maxBytes} bytes${where}`);
}
