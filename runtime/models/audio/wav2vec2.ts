import * as z from 'zod';
import { defineFamily } from '../family.js';
import { isListed, LISTED, waveConfig } from '../bases/audio/wave-config.js';
import { waveHeads } from '../bases/audio/wave-encoder.js';

const config = z.object(waveConfig).refine(isListed, LISTED);

const architecture = (modelType: string, base: string, adapters = false) =>
  defineFamily({
    modelTypes: [modelType],
    config,
    prefixes: [base],
    heads: waveHeads<z.output<typeof config>>(() => ({ base, adapters })),
  });

/** modeling_wav2vec2.py */
export const wav2vec2 = architecture('wav2vec2', 'wav2vec2.', true);

/** modeling_unispeech.py: another way to train the same network. */
export const unispeech = architecture('unispeech', 'unispeech.');

/** modeling_unispeech_sat.py */
export const unispeechSat = architecture('unispeech-sat', 'unispeech_sat.');
