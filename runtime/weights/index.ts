/** The index of a checkpoint: names, types, shapes and places of its tensors, without a byte of its weights. */
export { byteLength, numbersIn } from './elements.js';
export { WeightsError, type WeightsErrorCode } from './errors.js';
export { type Checkpoint, type CheckpointName, findCheckpoint } from './files.js';
export { aligned, bytesOf, floatsOf, halfTable } from './floats.js';
export { type NarrowRows, packNarrowRows } from './narrow-rows.js';
export { packRows, type PackedRows } from './pack-rows.js';
export { localFiles, readPart } from './local-files.js';
export { readWeightIndex, type ReadIndexOptions, weightFilesOf } from './read-index.js';
export { repackBlocks, type RepackedBlocks } from './repack-blocks.js';
export { FLOATS_OF_A_SCALE, repackFloats } from './repack-floats.js';
export type {
  FloatBlocks,
  GgmlBlocks,
  LowRankMerge,
  PackedBlocks,
  QuantizedBlocks,
  RangeSource,
  RowBlocks,
  StoredChange,
  StoredTensor,
  WeightFile,
  WeightIndex,
  WeightType,
} from './types.js';
export { weightTypeOf } from './weight-type.js';
