import type { Graph } from '../../../onnx/graph.js';
import type { GraphSource } from '../../sessions/graph-source.js';
import type { TokenEmbedder } from './embeddings/token-embedder.js';
import type { Prompt } from './prompt.js';

export type { Prompt } from './prompt.js';

/** The state of one generation under way: rows of equal length, one row at first. */
export interface Decoding {
  /**
   * Feeds the prompt: once, before the first step. A beginning that is in the prefix cache is not computed again.
   * @param tell gets the scores after each token; only where the request says so
   * @returns the scores after its last token
   * @throws RunError 422 where `tell` is given and the graph has scores of the last token only
   */
  prefill(prompt: Prompt, tell?: PromptScores): Promise<Float32Array>;
  /** Feeds each row its next token. Returns the scores after it, a new array per row. */
  step(tokens: readonly number[]): Promise<Float32Array[]>;
  /** Makes row i continue row `from[i]`. There may be more or fewer rows than before. */
  reorder(from: readonly number[]): void;
  /** Frees the rows. Called exactly once, however the generation ended; no step is made after it. */
  end(): void;
}

/** Takes the scores after the tokens [from, from + rows.length) of a prompt, in order. They are views: gone once it resolves. */
export type PromptScores = (rows: Float32Array[], from: number) => Promise<void>;

/** What a generation asks of a decoder. */
export interface DecodingRequest {
  /** Most rows at a time. */
  maxRows: number;
  /** Longest sequence in tokens, prompt included; may be Infinity. */
  maxLength: number;
  /** Tokens of the prompt. */
  promptLength?: number;
  /** Scores of all of the prompt are wanted. */
  scored?: { /** Bytes of what is kept of them. */ keptBytes: number } | undefined;
  /** States of images that its prompt looks at. */
  imageStates?: number;
  /** Bytes that are kept of what its prompt asks of heads. */
  attentionBytes?: number;
  /** Waits for a reservation; only for callers that hold none meanwhile. */
  waits?: boolean;
  signal: AbortSignal;
}

/** The graph of a decoder, before it is opened. */
export interface DecoderFile {
  graph: Graph;
  /** Where it comes from. */
  source: GraphSource;
  /** For a graph that takes embeddings. */
  embedder: TokenEmbedder | undefined;
}

/** A language model without an encoder. */
export interface Decoder {
  /**
   * Starts one row with an empty cache.
   * @throws RunError 503 when there is no room for it now, 422 when there never will be
   */
  start(request: DecodingRequest): Promise<Decoding>;
  /** @throws RunError 422 for a prompt of a length for whose runs there is no memory */
  checkPrompt(length: number): void;
  readonly inputNames: readonly string[];
  /** Most tokens that the graph has positions for. */
  readonly maxPositions: number;
  /** True where generations share each run (continuous batching). */
  readonly sharesRuns: boolean;
}

/** A model whose decoder attends to the states that an encoder makes of a source (encoder-decoder/encoder.ts). */
export interface EncoderDecoder<Source> {
  /**
   * Encodes a source and starts one row with an empty cache.
   * @throws RunError 503 when there is no room for it now, 422 when there never will be
   */
  start(source: Source, request: DecodingRequest): Promise<Decoding>;
  /** True where prompts may ask how heads look at the source. */
  readonly tellsAttention: boolean;
}
