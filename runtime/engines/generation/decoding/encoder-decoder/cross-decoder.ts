import type { Tensor } from 'onnxruntime-node';
import type { LoadRequest } from '../../../../core/load-request.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { contextLengthOf, partOf } from '../../../repository/sequence-lengths.js';
import type { DecoderMemory } from '../cache/decoder-memory.js';
import type { Decoding, DecodingRequest } from '../decoder.js';
import type { TokenEmbedder } from '../embeddings/token-embedder.js';

/** What a decoder attends to, before it is encoded. */
export interface EncoderRun {
  /** States that there will be, of which memory is reserved for first. */
  length: number;
  /** How many of them are no padding; all if absent. */
  seen: number | undefined;
  /** The states [1, length, width]. */
  encode(): Promise<Tensor>;
}

/** A decoder that attends to a source. */
export interface CrossDecoder {
  /**
   * Starts one row with an empty cache.
   * @throws RunError 503 when there is no room for it now, 422 when there never will be; what encoding throws
   */
  start(request: DecodingRequest, source: EncoderRun): Promise<Decoding>;
}

export interface CrossDecoderOptions {
  config: Json;
  /** For a graph that takes embeddings. */
  embedder: TokenEmbedder | undefined;
  /** What caches may take, by the bytes of a token and its state together. */
  memoryFor(bytesPerToken: number): Promise<DecoderMemory>;
}

export type OpenCrossDecoder = (
  request: LoadRequest,
  options: CrossDecoderOptions,
) => Promise<{ decoder: CrossDecoder; memory: DecoderMemory; tellsAttention: boolean }>;

/** Room at the start for models with relative positions that name no length: what T5 was trained on. */
const DEFAULT_LENGTH = 512;

/** Longest sequence of tokens that the decoder was made for. */
export const answerLengthOf = (config: Json): number =>
  contextLengthOf(partOf(config, 'decoder')) ?? DEFAULT_LENGTH;

const FLOAT = 4;

/** Bytes of a state of the encoder. */
export const stateBytesOf = (config: Json): number =>
  (firstNumber(partOf(config, 'encoder'), 'd_model', 'hidden_size') ?? 0) * FLOAT;
