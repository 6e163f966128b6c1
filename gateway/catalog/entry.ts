import type { TaskId } from '../../runtime/core/task-ids.js';

/** A row of the hosted list, and where its model comes from. */
export interface ModelEntry {
  /** `org/name`, exactly. */
  modelId: string;
  task: TaskId;
  /** Billions of parameters; null where nobody said. */
  params: number | null;
  /** GB (10^9 bytes) of memory that a running model takes. */
  ramRequired: number;
  /** Addresses of servers that answer for it already. */
  addresses: readonly string[];
  /** Where `ramRequired` comes from; `assumed`: nobody knows before its first load. */
  figures: 'given' | 'measured' | 'predicted' | 'assumed';
  /** Local folder that its files come from, instead of a hub. */
  from?: string | undefined;
  /** Its image on the engine. */
  image?: ModelImage | undefined;
}

/** The models of this gateway. May change while it runs. */
export interface Catalog {
  /** In the order of their ids. */
  list(): readonly ModelEntry[];
  find(modelId: string): ModelEntry | undefined;
  close(): void;
}

export interface ModelImage {
  id: string;
  reference: string;
  /** The weights are in it. */
  baked: boolean;
  /** It wants a GPU. */
  gpu: boolean;
}
