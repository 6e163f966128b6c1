/** llama.cpp as this engine uses it: over the native library (native/), or a stand-in of the same interface in tests. */
export interface Llama {
  /** Processors and GPUs, in the library's order. */
  devices(): readonly LlamaDevice[];
  /** @throws RunError `not_ready` with what llama.cpp says of the file */
  openModel(path: string, options: ModelOptions): Promise<LlamaModel>;
}

export interface LlamaDevice {
  name: string;
  description: string;
  kind: 'cpu' | 'gpu' | 'igpu' | 'accelerator' | 'meta';
  /** Bytes. */
  free: number;
  total: number;
}

export interface ModelOptions {
  /** Layers that GPUs hold, the last ones of the model; one beyond its layers: the output as well. */
  gpuLayers: number;
  /** Shares of the GPUs, in their order; by their free memory if absent. */
  tensorSplit?: readonly number[] | undefined;
  /** Tensors of mixtures' experts stay in RAM. */
  expertsOnCpu?: boolean | undefined;
}

export interface LlamaModel {
  readonly vocabulary: LlamaVocabulary;
  /** Most tokens that it was trained for. */
  readonly trainedLength: number;
  readonly layers: number;
  /** Width of the vectors that it gives. */
  readonly width: number;
  /** Classes of its head; 0 without one. */
  readonly classes: number;
  /** Recurrent or hybrid: a state can't be cut. */
  readonly keepsStates: boolean;
  /** Attention sees later tokens, or there is an encoder: no text is written. */
  readonly encodesOnly: boolean;
  /** A value of the file's metadata as text. */
  metadata(key: string): string | undefined;
  /** @throws RunError `not_ready` with what llama.cpp says */
  openContext(options: ContextOptions): Promise<LlamaContext>;
  close(): void;
}

export type CacheType = 'f32' | 'f16' | 'q8_0';

export interface ContextOptions {
  /** Tokens that the cache holds, of all rows together. */
  cells: number;
  /** Most tokens in a run. */
  batch: number;
  /** Row ids: 0 to this. */
  rows: number;
  /** Most tokens in a run whose scores are wanted. */
  outputs: number;
  threads: number;
  cacheType: CacheType;
  /** For vectors instead of scores; `model` takes what the file says. */
  pooling?: Pooling | undefined;
}

export type Pooling = 'model' | 'none' | 'mean' | 'cls' | 'last' | 'rank';

/** A token of a run. */
export interface BatchToken {
  id: number;
  /** Place in its row. */
  position: number;
  row: number;
  /** Its scores, or its vector, are wanted. */
  output: boolean;
}

/** `full`: no cells for it, and nothing was computed; `stopped`: by `stop`, and part of it may have been computed. */
export type RunOutcome = 'done' | 'full' | 'stopped';

/** One cache, and runs over it one at a time. */
export interface LlamaContext {
  readonly cells: number;
  /** @throws RunError `engine_failed` for a run that llama.cpp refuses */
  run(tokens: readonly BatchToken[]): Promise<RunOutcome>;
  /** Asks the run under way to stop; gone with the next one. */
  stop(): void;
  /** Scores after token i of the last run, a view that is gone with the next one. @throws RunError for a token without */
  scores(i: number): Float32Array;
  /** Vector of token i of the last run; a view as well. */
  vector(i: number): Float32Array;
  /** Pooled vector of a row of the last run, or the scores of its classes; a view as well. */
  pooled(row: number): Float32Array;
  /** Makes tokens [0, length) of a row those of another one, too; all of them if absent. */
  copyRow(from: number, to: number, length?: number): void;
  /** Forgets the tokens of a row from a place on. @returns false where its state can't be cut there */
  cutRow(row: number, from: number): boolean;
  setThreads(threads: number): void;
  close(): void;
}

export interface LlamaVocabulary {
  /** `spm`, `bpe`, `wpm`, `ugm`, `rwkv`, `plamo2`; `none` for files without one. */
  readonly kind: string;
  readonly size: number;
  /** What is put around a text. */
  readonly addsBos: boolean;
  readonly addsEos: boolean;
  /** A separator stands between two texts. */
  readonly addsSep: boolean;
  /** A blank is put before a text, and taken away again when it is read. */
  readonly addsPrefixSpace: boolean;
  /** Special tokens by their names; those that the file names. */
  readonly special: Readonly<Partial<Record<SpecialName, number>>>;
  /** @param special put around it what the file says */
  tokenize(text: string, special: boolean): number[];
  /** The same on a thread of the library's, with nothing around it: long texts take seconds. */
  tokenizeAside(text: string): Promise<number[]>;
  /** Bytes of a token; those of special ones only where asked for. */
  piece(id: number, special: boolean): Uint8Array;
  /** As the file has it. */
  text(id: number): string;
  /** Bits (ffi/layouts.ts). */
  attributes(id: number): number;
  /** True for a token that ends an answer. */
  ends(id: number): boolean;
}

export type SpecialName = 'bos' | 'eos' | 'eot' | 'sep' | 'pad' | 'mask' | 'nl';
