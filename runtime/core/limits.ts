import type { Profile } from './spec.js';

/** Defaults of the limits that an operator can set. Each message about a limit names its variable. */
export const DEFAULTS = {
  /** Bytes of a request body: a 32 MiB medium in Base64 and some text. */
  maxBodyBytes: 48 * 2 ** 20,
  /**
   * The same for tasks that take no media: twice what fits into long contexts. A tokenizer reads one or two megabytes a
   * second, and nobody else is served meanwhile; question answering takes six hundred bytes of memory for each.
   */
  maxTextBodyBytes: 2 ** 20,
  /** The same where one body has many texts, each of which is a request to the model: OpenAI's embeddings. */
  maxBatchBodyBytes: 4 * 2 ** 20,
  /**
   * Arrays, objects and what is in them, in a request body. Checking so many takes some ten milliseconds, in which nobody
   * else is served; six thousand messages have as many.
   */
  maxBodyValues: 20_000,
  /** Levels of arrays and objects in a body. No schema or conversation needs as many; copying them would end the stack. */
  maxBodyDepth: 100,
  /** Bytes of bodies and fetched media that all requests under way may hold. */
  maxPendingBytes: 512 * 2 ** 20,
  /** Bytes of a picture, sound or film, decoded from Base64 or fetched. */
  maxMediaBytes: 32 * 2 ** 20,
  maxPixels: 50_000_000,
  maxQueue: 256,
  concurrency: 16,
  encoderConcurrency: 128,
  /** Clients wait up to 15 minutes for headers. */
  requestTimeoutMs: 15 * 60_000,
  /** From SIGTERM to the end; `docker stop` kills after 10 seconds. */
  shutdownGraceMs: 8_000,
  /** Long enough for one step of a slow model (the prefill of a long prompt): killing it fails everyone's requests. */
  cancelGraceMs: 120_000,
  mediaTimeoutMs: 20_000,
} as const;

/** A body without media is a text, and no model reads as long a text as a picture has bytes. */
export function defaultBodyBytes(profile: Profile): number {
  return profile === 'text' ? DEFAULTS.maxTextBodyBytes : DEFAULTS.maxBodyBytes;
}
