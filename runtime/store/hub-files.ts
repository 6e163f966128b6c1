import type { RepoFile } from '../core/spec.js';
import { StoreError } from './errors.js';
import { hubFetch, type HubOptions, responseBody } from './hub-fetch.js';
import type { ByteRange, OpenedFile, RepoRef } from './source.js';

/** The files of a hub: whole, from an offset on, or in parts. */

/** With the address that hubAddress gives. */
export type HubConnection = HubOptions & { authorization?: string | undefined };

/** More than this is not read only to get at a part behind it. */
const MAX_SKIPPED_BYTES = 2 ** 20;

export interface FileRequest {
  ref: RepoRef;
  file: RepoFile;
  signal: AbortSignal | undefined;
}

/**
 * A file from an offset on.
 * @throws StoreError
 */
export async function openFile(
  options: HubConnection,
  request: FileRequest,
  offset: number,
): Promise<OpenedFile> {
  try {
    return await openAt(options, request, { offset });
  } catch (error) {
    // The file is shorter than listed; fetching all of it gives the right error.
    if (offset > 0 && (error as StoreError).status === 416) return openAt(options, request, { offset: 0 });
    throw error;
  }
}

/**
 * A part of a file.
 * @throws StoreError; retryable when the answer ended early
 */
export async function readRange(
  options: HubConnection,
  request: FileRequest,
  { offset, length }: ByteRange,
): Promise<Buffer> {
  const { ref, file, signal } = request;
  const leaving = new AbortController();
  const either = signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal;
  const end = offset + length;
  const what = `a part of ${file.path} of ${ref.id}`;
  const opened = await openPart(options, { ...request, signal: either }, { offset, end });
  const pieces: Uint8Array[] = [];
  let at = opened.offset;
  try {
    if (at > offset)
      throw new StoreError('network', `${what} came from the wrong place`, { remedy: 'try again' });
    if (offset - at > MAX_SKIPPED_BYTES) throw noRanges(options);
    for await (const piece of opened.body) {
      pieces.push(piece);
      at += piece.length;
      // Not at the end itself: a connection whose answer was read to its end is used again.
      if (at > end) break;
    }
  } finally {
    // A server without ranges would go on with the rest.
    leaving.abort();
  }
  if (at >= end) return Buffer.concat(pieces).subarray(offset - opened.offset, end - opened.offset);
  throw new StoreError('network', `${what} was cut off`, { remedy: 'try again' });
}

async function openPart(
  options: HubConnection,
  request: FileRequest,
  range: { offset: number; end: number },
): Promise<OpenedFile> {
  try {
    return await openAt(options, request, range);
  } catch (error) {
    if ((error as StoreError).status !== 416) throw error;
    throw new StoreError('corrupt', `${request.file.path} of ${request.ref.id} is shorter than announced`, {
      remedy: 'try again; if it stays, set HF_ENDPOINT to another hub',
      cause: error,
    });
  }
}

function noRanges({ endpoint }: HubConnection): StoreError {
  return new StoreError('invalid', `${endpoint} does not send parts of files`, {
    remedy: 'set HF_ENDPOINT to a hub that supports ranges, or give the files as a folder with --from',
  });
}

/** @param range from its offset up to `end`, or to the end of the file */
async function openAt(
  options: HubConnection,
  { ref, file, signal }: FileRequest,
  { offset, end }: { offset: number; end?: number },
): Promise<OpenedFile> {
  if (ref.commit.startsWith('local-')) {
    throw new StoreError('not_found', `${ref.id} was planned from a local folder, which no hub has`, {
      remedy: 'mount that folder at /server/model, or build with --bake',
    });
  }
  const path = file.path.split('/').map(encodeURIComponent).join('/');
  const url = `${options.endpoint}/${ref.id}/resolve/${ref.commit}/${path}`;
  // With compression, offsets and lengths would count compressed bytes.
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  if (end !== undefined) headers.range = `bytes=${offset}-${end - 1}`;
  else if (offset > 0) headers.range = `bytes=${offset}-`;
  const response = await hubFetch(options, ref.id)(url, { headers, signal });
  const { endpoint, stallMs } = options;
  return { offset: startOf(response, offset), body: responseBody(response, { endpoint, stallMs, signal }) };
}

/** Offset of the body in the file. */
function startOf(response: Response, requested: number): number {
  if (response.status !== 206) return 0;
  const start = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1];
  return start === undefined ? requested : Number(start);
}
