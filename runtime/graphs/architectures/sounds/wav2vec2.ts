import { z } from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { isListed, LISTED, waveConfig } from './config.js';
import { waveHeads } from './wave-encoder.js';

const config = z.object(waveConfig).refine(isListed, LISTED);

/** modeling_wav2vec2.py */
export const wav2vec2 = defineArchitecture({
  modelTypes: ['wav2vec2'],
  config,
  prefixes: ['wav2vec2.'],
  heads: waveHeads<z.output<typeof config>>(() => ({ base: 'wav2vec2.' })),
});
