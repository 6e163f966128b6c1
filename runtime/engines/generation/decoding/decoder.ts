/** What a decoder is fed before its first new token. Readers of pictures and sounds will add what takes the place of tokens. */
export interface Prompt {
  tokens: readonly number[];
}

/** The running state of one generation: rows of equal length that share a cache. One row at first. */
export interface Decoding {
  /**
   * Feeds the prompt: once, before the first step. What an earlier text has left of its beginning need not be computed
   * again.
   * @returns the scores after it
   */
  prefill(prompt: Prompt): Promise<Float32Array>;
  /** Feeds each row its next token. Gives the scores after it, a fresh array per row. */
  step(tokens: readonly number[]): Promise<Float32Array[]>;
  /** Makes row i continue what row `from[i]` has seen. There may be more or fewer rows than before. */
  reorder(from: readonly number[]): void;
  /** Frees what the rows hold. Called exactly once, whatever ended the generation; no step is made after it. */
  end(): void;
}

/** What a generation may come to need. */
export interface DecodingRequest {
  /** Most rows at a time. */
  maxRows: number;
  /** Longest sequence in tokens, prompt included; may be Infinity. */
  maxLength: number;
  /** Tokens of the prompt. */
  promptLength?: number;
  /** Waits for room; only for who holds nothing meanwhile. */
  waits?: boolean;
  signal: AbortSignal;
}

/** A language model without an encoder. */
export interface Decoder {
  /**
   * Starts one row with an empty cache.
   * @throws RunError 503 when there is no room for what it needs, 422 when there never will be
   */
  start(request: DecodingRequest): Promise<Decoding>;
  readonly inputNames: readonly string[];
  /** Most tokens that the graph has positions for. */
  readonly maxPositions: number;
  /** True where generations under way share each run. */
  readonly sharesRuns: boolean;
}

/** A model whose decoder looks at what an encoder has made of a source: a text, and in time a spectrogram or a picture. */
export interface EncoderDecoder<Source> {
  /**
   * Encodes a source and starts one row that has seen nothing but it.
   * @throws RunError 503 when there is no room for what it needs, 422 when there never will be
   */
  start(source: Source, request: DecodingRequest): Promise<Decoding>;
}
