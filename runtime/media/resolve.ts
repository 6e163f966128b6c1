import { RunError } from '../core/errors.js';
import { mapMessageMedia, type MediaSource } from '../core/message-media.js';
import type { Media, Resolved } from '../tasks/define.js';
import { decodeBase64, mediaTooLarge, type TextPieces } from './base64.js';
import type { FetchMedia } from './fetch-media.js';

/** What the request allows the work on its media. */
export interface MediaLimits {
  signal: AbortSignal;
  /** Told of the bytes as they come; what it throws ends the work. */
  onBytes(bytes: number): void;
  /** Media that the body's value only names. */
  media?: ReadonlyMap<string, TextPieces>;
  /** Files that came beside the body's value, by what stands in place of their Base64. */
  files?: ReadonlyMap<string, Uint8Array> | undefined;
  /** Does work that has pauses, in which others are served. */
  inTurns<T>(work: (pause: () => Promise<void> | undefined) => Promise<T>): Promise<T>;
}

/** Turns url or base64 into bytes that have been looked at. */
export type ResolveMedia = (source: MediaSource, work: MediaLimits) => Promise<Media>;

export interface ResolveOptions {
  fetchMedia: FetchMedia;
  maxBytes: number;
  /** First part of the media types that the task takes, e.g. `image`; a block's own type goes before it. */
  kind: string;
}

/** A file of audio may be a container for video, and an animated image is a video. */
const KINDS: Readonly<Record<string, RegExp>> = {
  audio: /^(?:audio|video)\/|\/ogg$/,
  video: /^video\/|^image\/gif$|\/ogg$/,
};

const isOfKind = (kind: string, mediaType: string): boolean =>
  KINDS[kind]?.test(mediaType) ?? mediaType.startsWith(`${kind}/`);

/** Characters of Base64 that keep nobody waiting. */
const SHORT = 2 ** 16;

/** @throws RunError 413 too large, 415 not the right kind, 422 not to be had or not Base64 */
export function createResolveMedia({ fetchMedia, maxBytes, kind }: ResolveOptions): ResolveMedia {
  async function inPlace(given: string, work: MediaLimits): Promise<Uint8Array> {
    const { onBytes, inTurns, media, files } = work;
    const file = files?.get(given);
    if (file && file.length > maxBytes) throw mediaTooLarge(maxBytes);
    if (file) return file;
    const base64 = media?.get(given) ?? given;
    const bytes = await (base64.length <= SHORT
      ? decodeBase64(base64, maxBytes)
      : inTurns((pause) => decodeBase64(base64, maxBytes, pause)));
    onBytes(bytes.length);
    return bytes;
  }

  return async ({ url, base64, type }, work) => {
    const wanted = type ?? kind;
    const bytes =
      url !== undefined ? await fetchMedia(url, work.signal, work.onBytes) : await inPlace(base64!, work);
    const { sniff } = await import('./sniff.js');
    const mediaType = await sniff(bytes);
    if (mediaType !== undefined && isOfKind(wanted, mediaType)) return { bytes, mediaType };
    throw new RunError(
      'unsupported_media',
      `expected ${wanted} data, got ${mediaType ?? 'something unknown'}`,
    );
  };
}

/** Replaces url and base64 of a validated input, and of the blocks of its messages, by `media`. */
export async function withMediaResolved(
  input: Record<string, unknown>,
  resolve: (source: MediaSource) => Promise<Media>,
): Promise<Resolved<unknown>> {
  const { url, base64, ...rest } = input as MediaSource & { messages?: unknown };
  if (rest.messages !== undefined) rest.messages = await messagesResolved(rest.messages, resolve);
  if (url === undefined && base64 === undefined) return rest as Resolved<unknown>;
  const source = url === undefined ? { base64: base64! } : { url };
  return { ...rest, media: await resolve(source) };
}

async function messagesResolved(
  messages: unknown,
  resolve: (source: MediaSource) => Promise<Media>,
): Promise<unknown> {
  const sources: MediaSource[] = [];
  mapMessageMedia(messages, (source) => ({ index: sources.push(source) }));
  const found: Media[] = [];
  for (const source of sources) found.push(await resolve(source));
  let next = 0;
  return mapMessageMedia(messages, () => ({ media: found[next++]! }));
}

/** For tasks that take no media; their schemas never let one through. */
export const refuseMedia: ResolveMedia = () =>
  Promise.reject(new RunError('unprocessable', 'this task takes no media'));
