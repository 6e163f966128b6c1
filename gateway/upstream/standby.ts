import pLimit from 'p-limit';
import type { ModelEntry } from '../catalog/entry.js';

/** What was done ahead for one model. */
export interface Spare {
  /** Resolves when it can't be used any more. */
  ended: Promise<unknown>;
  /** Takes it away, also when it has ended. */
  discard(): Promise<void>;
}

export interface StandbyOptions<T extends Spare> {
  /** Most spares. */
  most: number;
  /** What a spare has to fit, as text: one of another kind is of no use. */
  kindOf(entry: ModelEntry): string;
  make(entry: ModelEntry): Promise<T>;
  log: (line: string) => void;
}

/** Keeps spares for models that may be called next. */
export interface Standby<T extends Spare> {
  /** The model's spare, for the caller to use or discard; undefined without one that fits. */
  take(entry: ModelEntry): Promise<T | undefined>;
  /** Has spares made for the first of these, one after the other, and discards those of others. */
  want(entries: readonly ModelEntry[]): void;
  /** Resolves when no spare is left. */
  close(): Promise<void>;
}

interface Place<T> {
  kind: string;
  /** Its turn has come. */
  begun: boolean;
  /** Undefined when it could not be made, or is not wanted any more when its turn comes. */
  spare: Promise<T | undefined>;
}

export function createStandby<T extends Spare>({ most, kindOf, make, log }: StandbyOptions<T>): Standby<T> {
  /** By model. */
  const places = new Map<string, Place<T>>();
  const discards = new Set<Promise<void>>();
  const inTurn = pLimit(1);
  /** Models whose last spare could not be made: said once. */
  const failed = new Set<string>();
  let closed = false;

  function add(entry: ModelEntry): void {
    const { modelId } = entry;
    const place: Place<T> = {
      ...{ kind: kindOf(entry), begun: false },
      spare: inTurn(() => fill(entry, place)),
    };
    places.set(modelId, place);
  }

  async function fill(entry: ModelEntry, place: Place<T>): Promise<T | undefined> {
    const { modelId } = entry;
    const isWanted = () => places.get(modelId) === place;
    if (!isWanted()) return undefined;
    place.begun = true;
    try {
      const spare = await make(entry);
      failed.delete(modelId);
      void spare.ended.then(() => isWanted() && drop(modelId, place));
      return spare;
    } catch (error) {
      if (!failed.has(modelId))
        log(`nothing can be started ahead for ${modelId}: ${(error as Error).message}`);
      failed.add(modelId);
      if (isWanted()) places.delete(modelId);
      return undefined;
    }
  }

  function drop(modelId: string, { spare }: Place<T>): void {
    places.delete(modelId);
    const discard = spare
      .then((made) => made?.discard())
      .catch((error: Error) => log(`what waited for ${modelId} can't be removed yet: ${error.message}`))
      .finally(() => discards.delete(discard));
    discards.add(discard);
  }

  return {
    async take(entry) {
      const place = places.get(entry.modelId);
      if (!place) return undefined;
      if (place.kind !== kindOf(entry)) {
        drop(entry.modelId, place);
        return undefined;
      }
      places.delete(entry.modelId);
      // Others may be before it: then the caller is sooner there without it.
      return place.begun ? place.spare : undefined;
    },
    want(entries) {
      if (closed) return;
      const wanted = new Map(entries.slice(0, most).map((entry) => [entry.modelId, entry]));
      for (const [modelId, place] of places) {
        const entry = wanted.get(modelId);
        if (!entry || kindOf(entry) !== place.kind) drop(modelId, place);
      }
      for (const [modelId, entry] of wanted) if (!places.has(modelId)) add(entry);
    },
    async close() {
      closed = true;
      for (const [modelId, place] of places) drop(modelId, place);
      await Promise.all(discards);
    },
  };
}
