import type { Request, Response } from 'express';
import { RunError } from '../core/errors.js';
import { type JsonBodyOptions, readRawBody } from './json-body.js';

/** A form's parts, in the order in which they came. */
export interface Form {
  /** Texts by name; `name[]` counts as `name`. */
  fields: ReadonlyMap<string, readonly string[]>;
  files: ReadonlyMap<string, readonly Uint8Array[]>;
}

/** More than any route has fields. */
const MAX_PARTS = 64;

/** Longest text of a field, in characters. */
const MAX_TEXT = 2 ** 17;

/**
 * Reads a form with files (multipart/form-data).
 * @throws RunError 400 for what is no form, 413 for a body that is too large, 415 for another type
 */
export async function readMultipart(
  request: Request,
  response: Response,
  options: JsonBodyOptions,
): Promise<Form> {
  const type = request.headers['content-type'] ?? '';
  const boundary = /^multipart\/form-data\s*;.*\bboundary=(?:"([^"]{1,70})"|([^;\s]{1,70}))/i.exec(type);
  if (!boundary) throw new RunError('unsupported_media', 'the content type must be multipart/form-data');
  const { bytes, hold } = await readRawBody(request, response, options);
  checkParts(bytes, boundary[1] ?? boundary[2]!);
  // Files are copied out of the body.
  hold(bytes.length);
  return sortedParts(await parsed(bytes, type));
}

/** Before they are parsed: a million parts of a few bytes would hold up all others. */
function checkParts(bytes: Buffer, boundary: string): void {
  const mark = `--${boundary}`;
  let count = 0;
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) {
    // The last mark ends the form.
    if (++count > MAX_PARTS + 1)
      throw new RunError('invalid_input', `the form has more than ${MAX_PARTS} parts`);
  }
}

async function parsed(bytes: Buffer, type: string): Promise<FormData> {
  const body = bytes as Buffer<ArrayBuffer>;
  try {
    // The platform's own parser.
    return await new globalThis.Response(body, { headers: { 'content-type': type } }).formData();
  } catch (cause) {
    throw new RunError('invalid_input', 'the body is no valid multipart/form-data', { cause });
  }
}

async function sortedParts(form: FormData): Promise<Form> {
  const fields = new Map<string, string[]>();
  const files = new Map<string, Uint8Array[]>();
  for (const [given, value] of form) {
    const name = given.replace(/\[\]$/, '');
    if (typeof value === 'string') {
      if (value.length > MAX_TEXT)
        throw new RunError('invalid_input', `${name.slice(0, 100)}: is longer than ${MAX_TEXT} characters`);
      fields.set(name, [...(fields.get(name) ?? []), value]);
    } else files.set(name, [...(files.get(name) ?? []), new Uint8Array(await value.arrayBuffer())]);
  }
  return { fields, files };
}
