/** Adapters (LoRA of peft) that are merged into their base models, and other repositories that models are read with. */
export { findBeside } from './find-beside.js';
export { type FoundAdapter, findBase } from './find-base.js';
export { ggufAdapter, type GgufAdapter, isGgufAdapter } from './gguf-adapter.js';
export { mergeIndex, type MergedIndex } from './merged-index.js';
export { MERGE_REMEDY } from './settings.js';
