import type { ToolVersions } from './types.js';

/** What exports are made by: python/requirements.txt has the same, with all that they need. */
export const PINNED: ToolVersions = {
  ...{ transformers: '5.24.0', torch: '2.15.0', onnx: '1.23.2', onnxscript: '0.7.2', onnx_ir: '1.1.0' },
};
