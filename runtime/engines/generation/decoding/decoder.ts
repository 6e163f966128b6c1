/** The running state of one generation: rows of equal length that share a cache. One row at first. */
export interface Decoding {
  /** Feeds each row its next tokens. Gives the scores after the last one, a fresh array per row. */
  step(rows: number[][]): Promise<Float32Array[]>;
  /** Makes row i continue what row `from[i]` has seen. There may be more or fewer rows than before. */
  reorder(from: number[]): void;
  /**
   * Takes over what an earlier text left of the beginning of this prompt, before the first step.
   * @returns how many of its tokens need not be fed; never all of them
   */
  resume?(prompt: readonly number[]): number;
  /** Frees what the rows hold. Called exactly once, whatever ended the generation; no step is made after it. */
  end(): void;
}

/** What a generation may come to need. */
export interface Need {
  /** Most rows at a time. */
  rows: number;
  /** Longest sequence in tokens, prompt included; may be Infinity. */
  tokens: number;
  /** Tokens of the prompt. */
  prompt?: number;
  /** Waits for room; only for who holds nothing meanwhile. */
  patient?: boolean;
  signal: AbortSignal;
}

export interface Decoder {
  /**
   * Starts one row with an empty cache.
   * @throws RunError 503 when there is no room for what it needs
   */
  start(need: Need): Promise<Decoding>;
  readonly inputNames: readonly string[];
  /** Most tokens that the graph has positions for. */
  readonly positions: number;
  /** True where generations under way share each run. */
  readonly shares: boolean;
  /** Most tokens to feed in one step, so that one step's scores stay within bounds. */
  readonly chunk: number;
}
