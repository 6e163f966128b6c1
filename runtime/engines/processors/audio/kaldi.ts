import { melFilters } from './mel-filters.js';
import { createSpectrogram, type MakeSpectrogram } from './spectrogram.js';
import type { WindowName } from './window.js';
import { windowOf } from './window.js';

/** Samples of a frame, from one to the next, and of its transform, whatever the rate: 25 and 10 ms at 16 kHz. */
export const [FRAME, HOP, FFT] = [400, 160, 512];

/** Kaldi's mel spectrogram as transformers makes it. */
export function createKaldiSpectrogram(filters: number, rate: number, window: WindowName): MakeSpectrogram {
  return createSpectrogram({
    ...{ window: windowOf(window, FRAME, false), hop: HOP, fftLength: FFT, floor: 1.192092955078125e-7 },
    ...{ log: 'ln', preemphasis: 0.97, removeMean: true },
    filters: melFilters({
      ...{ bins: FFT / 2 + 1, filters, from: 20, to: Math.floor(rate / 2), rate },
      ...{ scale: 'kaldi', triangularInMels: true },
    }),
  });
}
