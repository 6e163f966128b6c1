import { type SchedulerConfig, trainSteps } from './config.js';

const USUAL = ['linear', 'scaled_linear', 'squaredcos_cap_v2'] as const;
const ALL = [...USUAL, 'sigmoid', 'laplace', 'exp'] as const;

type BetaSchedule = (typeof ALL)[number];

export interface BetaDefaults {
  start?: number;
  end?: number;
  schedule?: BetaSchedule;
  /** Schedules that this class knows beside the usual ones. */
  others?: readonly BetaSchedule[];
  /** False for classes that do not know `rescale_betas_zero_snr`. */
  rescales?: boolean;
  /** What replaces an end without any signal, so that a noise level stays finite. */
  lastSignal?: number;
}

/** Share of the signal that is left by each training step (`alphas_cumprod`), in single precision as in Python. */
export function signalShares(config: SchedulerConfig, defaults: BetaDefaults = {}): Float32Array {
  const betas = betasOf(config, defaults);
  const rescales = defaults.rescales !== false && config.flag('rescale_betas_zero_snr', false);
  if (!rescales) return cumulative(betas);
  const shares = cumulative(withoutLastSignal(betas));
  if (defaults.lastSignal !== undefined) shares[shares.length - 1] = defaults.lastSignal;
  return shares;
}

/** For schedules over noise levels: the last one stays finite (in Python 2 ** -24, too). */
export const LEAST_SIGNAL = 2 ** -24;

function betasOf(config: SchedulerConfig, { start = 0.0001, end = 0.02, ...defaults }: BetaDefaults) {
  const trained = config.numbers('trained_betas');
  if (trained) return Float32Array.from(trained);
  const known = [...USUAL, ...(defaults.others ?? [])];
  const schedule = config.choice('beta_schedule', known, defaults.schedule ?? 'linear');
  const count = trainSteps(config);
  const [first, last] = [config.number('beta_start', start), config.number('beta_end', end)];
  if (schedule === 'linear') return evenly(first, last, count);
  if (schedule === 'scaled_linear') {
    return evenly(Math.sqrt(first), Math.sqrt(last), count).map((root) => root * root);
  }
  if (schedule === 'sigmoid') {
    return evenly(-6, 6, count).map((x) => (last - first) / (1 + Math.exp(-x)) + first);
  }
  return fromSignal(SIGNALS[schedule], count);
}

/** Share of the signal at a time from 0 to 1. */
const SIGNALS = {
  squaredcos_cap_v2: (t: number) => Math.cos((((t + 0.008) / 1.008) * Math.PI) / 2) ** 2,
  exp: (t: number) => Math.exp(t * -12),
  laplace: (t: number) => {
    const side = 0.5 - t < 0 ? -1 : 1;
    const ratio = Math.exp(-0.5 * side * Math.log(1 - 2 * Math.abs(0.5 - t) + 1e-6));
    return Math.sqrt(ratio / (1 + ratio));
  },
};

const MAX_BETA = 0.999;

function fromSignal(signal: (t: number) => number, count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, i) =>
    Math.min(1 - signal((i + 1) / count) / signal(i / count), MAX_BETA),
  );
}

/** torch.linspace: steps of single precision from both ends to the middle. */
function evenly(first: number, last: number, count: number): Float32Array {
  const [from, to] = [Math.fround(first), Math.fround(last)];
  const step = Math.fround(Math.fround(to - from) / Math.max(1, count - 1));
  const half = Math.floor(count / 2);
  return Float32Array.from({ length: count }, (_, i) =>
    i < half || count === 1 ? from + step * i : to - step * (count - 1 - i),
  );
}

function cumulative(betas: Float32Array): Float32Array {
  let product = 1;
  return betas.map((beta) => (product *= Math.fround(1 - beta)));
}

/** Shifts and stretches the schedule so that nothing of the signal is left at its end (rescale_zero_terminal_snr). */
function withoutLastSignal(betas: Float32Array): Float32Array {
  const roots = cumulative(betas).map(Math.sqrt);
  const [first, last] = [roots[0]!, roots.at(-1)!];
  const stretch = Math.fround(first / Math.fround(first - last));
  const shares = roots.map((root) => Math.fround(Math.fround(root - last) * stretch) ** 2);
  return shares.map((share, i) => 1 - Math.fround(i === 0 ? share : share / shares[i - 1]!));
}
