/** Defaults of the limits that an operator can set. Each message about a limit names its variable. */
export const DEFAULTS = {
  /** Bytes of a request body: a 32 MiB medium in Base64 and some text. */
  maxBodyBytes: 48 * 2 ** 20,
  /**
   * The same for tasks without media: twice as much as fits into long contexts. A tokenizer reads one or two megabytes per
   * second and blocks other requests meanwhile; question answering takes 600 bytes of memory per byte.
   */
  maxTextBodyBytes: 2 ** 20,
  /** The same for bodies with many texts, each a request to the model: OpenAI's embeddings. */
  maxBatchBodyBytes: 4 * 2 ** 20,
  /**
   * Arrays, objects and their items in a request body. Checking this many blocks the event loop for about ten
   * milliseconds; six thousand messages have as many.
   */
  maxBodyValues: 20_000,
  /** Levels of arrays and objects in a body. No schema needs as many; deeper ones would overflow the stack. */
  maxBodyDepth: 100,
  /** Bytes of bodies and fetched media that all running requests together may hold. */
  maxPendingBytes: 512 * 2 ** 20,
  /** Bytes of an image, audio or video, decoded from Base64 or fetched. */
  maxMediaBytes: 32 * 2 ** 20,
  maxPixels: 50_000_000,
  /** Seconds of an audio clip or video: half an hour of speech at 16 kHz takes 115 MB. */
  maxMediaSeconds: 1800,
  maxQueue: 256,
  concurrency: 16,
  encoderConcurrency: 128,
  /** As long as clients wait for headers. */
  requestTimeoutMs: 15 * 60_000,
  /** From SIGTERM to the end; `docker stop` kills after 10 seconds. */
  shutdownGraceMs: 8_000,
  /** Long enough for one step of a slow model, such as the prefill of a long prompt; a kill fails all requests. */
  cancelGraceMs: 120_000,
  mediaTimeoutMs: 20_000,
} as const;

/** Bodies without media hold texts, which are shorter. */
export function defaultBodyBytes(readsMedia: boolean): number {
  return readsMedia ? DEFAULTS.maxBodyBytes : DEFAULTS.maxTextBodyBytes;
}
