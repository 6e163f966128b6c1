import { type GgufVariant, ROLE_WORDS } from '../../../runtime/store/choose-gguf.js';
import { labelWords } from '../../../runtime/store/gguf-label.js';
import type { Limit } from '../verdict.js';
import { madeBytes } from './choose-file.js';

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
  /** What is read beside it. */
  tower?: { variant: GgufVariant } | undefined;
}

interface Figures {
  peakBytes: number;
  limitBytes: number;
  /** llama.cpp maps files as they are; graphs of ours read what is made of them. */
  isMade: boolean;
}

/**
 * The files of GGUF of a repository. All networks are of one shape, so their memory differs by their weights.
 * @param memory of the chosen one
 */
export function ggufFiles(
  { variants, chosen, tower }: Listed,
  { peakBytes, limitBytes, isMade }: Figures,
  limit: Limit,
): GgufFile[] {
  return variants.map((variant) => {
    const { path, label = null, size: bytes, role, missing } = variant;
    const bytesOf = (one: GgufVariant) => (isMade ? madeBytes(one) : one.size);
    const more = bytesOf(variant) - bytesOf(chosen);
    const isModel = role === 'model' && missing.length === 0;
    const figures = {
      usualBytes: Math.round(peakBytes + more),
      longestBytes: Math.round(limitBytes + more),
    };
    const lacks = missing.length > 0 ? `lacks ${missing.length} of its parts` : ROLE_WORDS[role];
    return {
      ...{ path, label, bytes, words: isModel ? labelWords(label ?? undefined) : lacks },
      memory: isModel ? figures : null,
      fits: isModel && figures.longestBytes <= limit.bytes,
      chosen: path === chosen.path || path === tower?.variant.path,
    };
  });
}
