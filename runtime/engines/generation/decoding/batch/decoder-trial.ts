import type { Json } from '../../../repository/model-folder.js';
import { type BatchCache, createBatchCache } from '../cache/batch-cache.js';
import { appendTokens, emptySequenceCache } from '../cache/kv-cache.js';
import { nearlyEqual, trialTokens } from '../trial.js';
import type { StepOutput, StepSession } from './step-session.js';

export interface DecoderAbilities {
  /** Generations may share a run. */
  sharesRuns: boolean;
  /** A prompt may be fed in several runs. */
  chunkedPrefill: boolean;
}

/**
 * Finds by trial what a graph allows: short texts together and in parts, compared with the same texts alone and whole.
 * @returns undefined where not even one text can be decoded from a cache with padding
 */
export async function tryDecoder(session: StepSession, config: Json): Promise<DecoderAbilities | undefined> {
  try {
    return await trial(session, config);
  } catch {
    // A graph that refuses these shapes.
    return undefined;
  }
}

async function trial(session: StepSession, config: Json): Promise<DecoderAbilities | undefined> {
  const { layout } = session;
  const same = (one: StepOutput, other: StepOutput, row: number) =>
    nearlyEqual(one.scores[0]!, other.scores[row]!, layout.type);
  const tokens = trialTokens(config);
  const [long, short] = [tokens(9, 11), tokens(5, 61)];
  const [next] = tokens(1, 7) as [number];
  const whole = await session.prefill({ tokens: long }, 9, emptySequenceCache(layout));
  const caches = [
    appendTokens(layout, emptySequenceCache(layout), whole),
    appendTokens(
      layout,
      emptySequenceCache(layout),
      await session.prefill({ tokens: short }, 5, emptySequenceCache(layout)),
    ),
  ] as const;
  const alone = [
    await session.prefill({ tokens: [...long, next] }, 1, caches[0]),
    await session.prefill({ tokens: [...short, next] }, 1, caches[1]),
  ] as const;

  const step = async (tokens: readonly number[], batch: BatchCache) =>
    session.step({ ids: tokens, embedded: await session.embed?.(tokens) }, batch);
  const single = createBatchCache(layout);
  single.add(caches[1]);
  if (!same(alone[1], await step([next], single), 0)) return undefined;

  const both = createBatchCache(layout);
  for (const cache of caches) both.add(cache);
  const together = await step([next, next], both);
  const sharesRuns = same(alone[0], together, 0) && same(alone[1], together, 1);

  const partial = appendTokens(
    layout,
    emptySequenceCache(layout),
    await session.prefill({ tokens: long }, 4, emptySequenceCache(layout)),
  );
  return { sharesRuns, chunkedPrefill: same(whole, await session.prefill({ tokens: long }, 5, partial), 0) };
}
