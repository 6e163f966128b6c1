import { defineFamily } from '../family.js';
import { imageHeads } from '../bases/vision/image-heads.js';
import { secondConfig, modelOf } from './convnext.js';

/** modeling_convnextv2.py: the response of each channel is measured against that of the others. */
export const convnextv2 = defineFamily({
  modelTypes: ['convnextv2'],
  readers: { processor: 'ConvNext' },
  config: secondConfig,
  prefixes: ['convnextv2.'],
  heads: imageHeads(modelOf('convnextv2.')),
});
