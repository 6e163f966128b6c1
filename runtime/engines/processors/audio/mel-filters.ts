/** Names of transformers.audio_utils. */
export type MelScale = 'htk' | 'kaldi' | 'slaney';

export interface MelFilterOptions {
  /** Of the spectrum: half of the transform's length and one. */
  bins: number;
  filters: number;
  /** Hertz. */
  from: number;
  to: number;
  rate: number;
  scale: MelScale;
  /** Makes all filters of the same area. */
  slaneyNorm?: boolean;
  /** Triangles have straight sides over mels, not over Hertz. */
  triangularInMels?: boolean;
}

/** One triangle: its weights from `start` on. */
export interface MelFilter {
  start: number;
  weights: Float64Array;
}

const LOG_FROM_HERTZ = 1000;
const LOG_FROM_MEL = 15;

const SCALES: Record<MelScale, { toMel: (hertz: number) => number; toHertz: (mel: number) => number }> = {
  htk: {
    toMel: (hertz) => 2595 * Math.log10(1 + hertz / 700),
    toHertz: (mel) => 700 * (10 ** (mel / 2595) - 1),
  },
  kaldi: {
    toMel: (hertz) => 1127 * Math.log(1 + hertz / 700),
    toHertz: (mel) => 700 * (Math.exp(mel / 1127) - 1),
  },
  slaney: {
    toMel: (hertz) =>
      hertz < LOG_FROM_HERTZ
        ? (3 * hertz) / 200
        : LOG_FROM_MEL + Math.log(hertz / LOG_FROM_HERTZ) * (27 / Math.log(6.4)),
    toHertz: (mel) =>
      mel < LOG_FROM_MEL
        ? (200 * mel) / 3
        : LOG_FROM_HERTZ * Math.exp((Math.log(6.4) / 27) * (mel - LOG_FROM_MEL)),
  },
};

/** Triangular filters over a spectrum (transformers.audio_utils.mel_filter_bank). */
export function melFilters(options: MelFilterOptions): MelFilter[] {
  const { bins, filters, rate, scale, slaneyNorm = false, triangularInMels = false } = options;
  const { toMel, toHertz } = SCALES[scale];
  const [least, most] = [toMel(options.from), toMel(options.to)];
  const mels = Array.from({ length: filters + 2 }, (_, i) => least + ((most - least) * i) / (filters + 1));
  const corners = mels.map(toHertz);
  const hertz = Float64Array.from({ length: bins }, (_, i) =>
    triangularInMels ? toMel((rate / ((bins - 1) * 2)) * i) : (Math.floor(rate / 2) * i) / (bins - 1),
  );
  const edges = triangularInMels ? mels : corners;
  return Array.from({ length: filters }, (_, i) => {
    const [left, middle, right] = [edges[i]!, edges[i + 1]!, edges[i + 2]!];
    const norm = slaneyNorm ? 2 / (edges[i + 2]! - edges[i]!) : 1;
    const weights = hertz.map(
      (at) => norm * Math.max(0, Math.min((at - left) / (middle - left), (right - at) / (right - middle))),
    );
    return withoutZeros(weights);
  });
}

function withoutZeros(weights: Float64Array): MelFilter {
  const start = Math.max(
    0,
    weights.findIndex((weight) => weight !== 0),
  );
  const end = weights.findLastIndex((weight) => weight !== 0) + 1;
  return { start, weights: weights.slice(start, Math.max(start, end)) };
}
