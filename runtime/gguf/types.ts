/** What a value of the metadata can be; whole numbers beyond 2^53 are bigints. Lists hold values of one type. */
export type GgufScalar = string | number | bigint | boolean;
export type GgufValue = GgufScalar | GgufList;
export type GgufList = readonly GgufScalar[] | Int32Array | Float32Array;

/** Keys and values, in the order of the file. */
export type GgufMetadata = ReadonlyMap<string, GgufValue>;

/** A tensor as the header has it. */
export interface GgufTensor {
  name: string;
  /** Sizes with the fastest one last, as in transformers; ggml writes them the other way round. */
  shape: readonly number[];
  /** Name of its type in ggml: `Q4_K`. */
  type: string;
  /** Of its first byte, in the file. */
  offset: number;
  /** In bytes. */
  length: number;
}

/** What stands before the data of a GGUF file. */
export interface GgufHeader {
  /** Path in the repository. */
  file: string;
  version: number;
  metadata: GgufMetadata;
  tensors: readonly GgufTensor[];
  /** Where the data begin. */
  dataOffset: number;
}
