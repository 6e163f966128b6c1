import { type GgufVariant, ROLE_WORDS } from '../../../runtime/store/choose-gguf.js';
import { labelWords } from '../../../runtime/store/gguf-label.js';
import type { Limit } from '../verdict.js';
import { madeBytes } from './open-gguf.js';

/** A file of a repository, for the plan's reader. */
export interface GgufFile {
  /** Of its first part. */
  path: string;
  /** Quantisation, as its name has it. */
  label: string | null;
  bytes: number;
  /** Its precision in plain words, or what it is instead of a model. */
  words: string;
  /** With requests of usual size, and with the longest ones; null for what is no model. */
  memory: { usualBytes: number; longestBytes: number } | null;
  fits: boolean;
  chosen: boolean;
}

interface Listed {
  variants: readonly GgufVariant[];
  chosen: GgufVariant;
}

/**
 * The files of GGUF of a repository. All networks are of one shape, so their memory differs by their weights.
 * @param memory of the chosen one
 */
export function ggufFiles(
  { variants, chosen }: Listed,
  memory: { peakBytes: number; limitBytes: number },
  limit: Limit,
): GgufFile[] {
  return variants.map((variant) => {
    const { path, label = null, size: bytes, role, missing } = variant;
    const more = madeBytes(variant) - madeBytes(chosen);
    const isModel = role === 'model' && missing.length === 0;
    const figures = {
      usualBytes: Math.round(memory.peakBytes + more),
      longestBytes: Math.round(memory.limitBytes + more),
    };
    const lacks = missing.length > 0 ? `lacks ${missing.length} of its parts` : ROLE_WORDS[role];
    return {
      ...{ path, label, bytes, words: isModel ? labelWords(label ?? undefined) : lacks },
      memory: isModel ? figures : null,
      fits: isModel && figures.longestBytes <= limit.bytes,
      chosen: variant === chosen,
    };
  });
}
