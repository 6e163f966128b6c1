import { firstNumber, type Json, textConfig } from '../../../repository/model-folder.js';
import type { CacheInput } from '../single/cache-inputs.js';
import type { Decoding } from '../decoder.js';
import { appended, emptyCache } from '../cache/kv-cache.js';
import { createKvRows } from '../cache/batch-cache.js';
import type { StepOutput, StepSession } from './step-session.js';

export interface DecoderAbilities {
  /** Generations may share a run. */
  shares: boolean;
  /** A prompt may be fed in parts. */
  inParts: boolean;
}

/** Differences that come from another order of summation; what mixes rows or misplaces tokens differs far more. */
const TOLERANCE = { float32: 2e-4, float16: 1e-2 };

/**
 * Finds by trial what a graph allows: short texts together and in parts against the same texts alone and whole.
 * @returns undefined where not even one text can be decoded from a cache with unused places
 */
export async function tryDecoder(session: StepSession, config: Json): Promise<DecoderAbilities | undefined> {
  try {
    return await trial(session, vocabularyOf(config));
  } catch {
    // A graph that refuses these shapes.
    return undefined;
  }
}

/** Whether a text fed in two parts gets what it gets whole. */
export async function takesPromptsInParts(
  start: () => Decoding,
  caches: readonly CacheInput[],
  config: Json,
): Promise<boolean> {
  const text = tokensOf(9, 0, vocabularyOf(config));
  try {
    const [whole] = await start().step([text]);
    const parts = start();
    await parts.step([text.slice(0, 4)]);
    const [last] = await parts.step([text.slice(4)]);
    return similar(whole!, last!, TOLERANCE[caches[0]!.type]);
  } catch {
    // A graph that refuses these shapes.
    return false;
  }
}

const vocabularyOf = (config: Json): number => firstNumber(textConfig(config), 'vocab_size') ?? 100;

async function trial(session: StepSession, vocabulary: number): Promise<DecoderAbilities | undefined> {
  const { layout } = session;
  const near = (one: StepOutput, other: StepOutput, row: number) =>
    similar(one.scores[0]!, other.scores[row]!, TOLERANCE[layout.type]);
  const [long, short, next] = [tokensOf(9, 0, vocabulary), tokensOf(5, 50, vocabulary), 7 % vocabulary];
  const whole = await session.prefill(long, emptyCache(layout));
  const caches = [
    appended(layout, emptyCache(layout), whole.fresh),
    appended(layout, emptyCache(layout), (await session.prefill(short, emptyCache(layout))).fresh),
  ] as const;
  const alone = [await session.prefill([next], caches[0]), await session.prefill([next], caches[1])] as const;

  const single = createKvRows(layout);
  single.add(caches[1]);
  if (!near(alone[1], await session.step([next], single), 0)) return undefined;

  const both = createKvRows(layout);
  for (const cache of caches) both.add(cache);
  const together = await session.step([next, next], both);
  const shares = near(alone[0], together, 0) && near(alone[1], together, 1);

  const begun = appended(
    layout,
    emptyCache(layout),
    (await session.prefill(long.slice(0, 4), emptyCache(layout))).fresh,
  );
  return { shares, inParts: near(whole, await session.prefill(long.slice(4), begun), 0) };
}

function tokensOf(length: number, seed: number, vocabulary: number): number[] {
  return Array.from({ length }, (_, i) => (11 + seed + 37 * i) % vocabulary);
}

function similar(one: Float32Array, other: Float32Array, tolerance: number): boolean {
  const largest = one.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return (
    one.length === other.length && one.every((value, i) => Math.abs(value - other[i]!) <= tolerance * largest)
  );
}
