import type { Json } from '../../../repository/model-folder.js';
import { createKvRows } from '../cache/batch-cache.js';
import { appended, emptyCache } from '../cache/kv-cache.js';
import { similar, trialTokens } from '../trial.js';
import type { StepOutput, StepSession } from './step-session.js';

export interface DecoderAbilities {
  /** Generations may share a run. */
  shares: boolean;
  /** A prompt may be fed in parts. */
  inParts: boolean;
}

/**
 * Finds by trial what a graph allows: short texts together and in parts against the same texts alone and whole.
 * @returns undefined where not even one text can be decoded from a cache with unused places
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
  const near = (one: StepOutput, other: StepOutput, row: number) =>
    similar(one.scores[0]!, other.scores[row]!, layout.type);
  const tokens = trialTokens(config);
  const [long, short] = [tokens(9, 11), tokens(5, 61)];
  const [next] = tokens(1, 7) as [number];
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
