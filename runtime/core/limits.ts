/** Defaults of the limits that an operator can set. Each message about a limit names its variable. */
export const DEFAULTS = {
  /** Bytes of a request body: a 32 MiB medium in Base64 and some text. */
  maxBodyBytes: 48 * 2 ** 20,
  /**
   * The same for tasks that take no media: ten times what fits into long contexts. A tokenizer reads one or two
   * megabytes a second, and nobody else is served meanwhile.
   */
  maxTextBodyBytes: 4 * 2 ** 20,
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
