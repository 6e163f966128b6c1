/** Adapters (LoRA of peft) that are merged into their base models. */
export { type FoundAdapter, findBase } from './find-base.js';
export { openLayered } from './layers.js';
export { mergeIndex, type MergedIndex } from './merged-index.js';
export { MERGE_REMEDY } from './settings.js';
