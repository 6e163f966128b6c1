import type { Dtype } from '../../runtime/core/spec.js';
import { megabytes } from '../report.js';
import type { FormatForecast } from './forecast.js';

export interface FitVerdict {
  fits: boolean;
  neededBytes: number;
  limitBytes: number;
  /** A format that fits, if the chosen one does not. */
  instead?: Dtype;
  text: string;
}

export interface Limit {
  bytes: number;
  /** Name of the limit's owner within a sentence: `this machine`. */
  name: string;
}

/** Between peak and limit, the longest requests are refused. */
function fitting({ memory }: FormatForecast, needs: string, limit: Limit): string {
  const full = megabytes(memory.limitBytes);
  if (memory.limitBytes <= limit.bytes)
    return `fits ${limit.name}: needs ${full} of ${megabytes(limit.bytes)}`;
  return `fits ${limit.name} for requests of usual size: ${needs}; the longest need ${full}, and are refused there`;
}

/** Decides whether the first format fits, and which fits instead. Pure. */
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
