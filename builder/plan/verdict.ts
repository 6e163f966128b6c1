import type { Dtype } from '../../runtime/core/spec.js';
import { megabytes } from '../report.js';
import type { FormatForecast } from './forecast.js';

export interface FitVerdict {
  fits: boolean;
  neededBytes: number;
  limitBytes: number;
  /** A format that would fit, where the chosen one doesn't. */
  instead?: Dtype;
  text: string;
}

export interface Limit {
  bytes: number;
  /** Whose limit it is, as the sentence goes on: `this machine`. */
  name: string;
}

/** Between the two, requests that are too long are refused. */
function fitting({ memory }: FormatForecast, needs: string, limit: Limit): string {
  const full = megabytes(memory.limitBytes);
  if (memory.limitBytes <= limit.bytes)
    return `fits ${limit.name}: needs ${full} of ${megabytes(limit.bytes)}`;
  return `fits ${limit.name} for requests of usual size: ${needs}; the longest need ${full}, and are refused there`;
}

/** Whether the first format fits, and what to take instead. Pure. */
export function judgeFit([chosen, ...others]: readonly FormatForecast[], limit: Limit): FitVerdict {
  const neededBytes = chosen!.memory.peakBytes;
  const figures = { neededBytes, limitBytes: limit.bytes };
  const needs = `needs ${megabytes(neededBytes)} of ${megabytes(limit.bytes)}`;
  if (neededBytes <= limit.bytes) return { ...figures, fits: true, text: fitting(chosen!, needs, limit) };
  const smaller = others.find(({ memory }) => memory.peakBytes <= limit.bytes);
  const remedy = smaller
    ? `take --dtype ${smaller.dtype}, which needs ${megabytes(smaller.memory.peakBytes)}`
    : 'no weight format of it does: take a smaller model, or more memory';
  return {
    ...figures,
    fits: false,
    ...(smaller ? { instead: smaller.dtype } : {}),
    text: `does not fit ${limit.name}: ${needs}; ${remedy}`,
  };
}
