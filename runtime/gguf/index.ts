/** Files of GGUF: headers, types of numbers, parts. Reads no weights. */
export { formerType, type GgmlType, ggmlType, ggmlTypeNamed } from './blocks.js';
export {
  type BlockForm,
  blockForm,
  type DecodedBlocks,
  decodeBlocks,
  floatsOfBlocks,
  packIntegers,
} from './decode-blocks.js';
export { MAX_HEADER_BYTES } from './byte-cursor.js';
export { readGgufHeader } from './header.js';
export { type GgufModel, partPaths, readGgufModel } from './parts.js';
export type { GgufHeader, GgufList, GgufMetadata, GgufScalar, GgufTensor, GgufValue } from './types.js';
export {
  CACHE_BYTES,
  cacheBytesPerToken,
  type CacheType,
  llamaMemory,
  type LlamaMemory,
  type LlamaShape,
} from './memory.js';
export { shapeFor, type ShapeInput } from './llama-shape.js';
export { ggufSizes, STARCODER_WINDOW, type GgufSizes } from './sizes.js';
