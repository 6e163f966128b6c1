import type { Device } from '../../runtime/core/spec.js';
import type { ModerationFlags } from '../../runtime/core/moderation.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import type { Remote } from '../remote/remote.js';

/** One model of the catalogue: its row in the hosted list, and where it comes from. */
export interface ModelEntry {
  /** `org/name`, exactly. */
  modelId: string;
  task: TaskId;
  /** Billions of parameters; null when not known. */
  params: number | null;
  /** GB (10^9 bytes) of memory that a server of it takes. */
  ramRequired: number;
  /** Addresses of servers that run it already. */
  addresses: readonly string[];
  /** Where `ramRequired` comes from. `assumed`: not known before the first start. */
  figures: 'given' | 'measured' | 'predicted' | 'assumed';
  /** Local folder with its files, instead of a hub. */
  from?: string | undefined;
  /** Which of its labels flag a text, with the least score that does. */
  moderation?: ModerationFlags | undefined;
  /** Who serves it, where others do. */
  remote?: Remote | undefined;
  /** Its image on the engine. */
  image?: ModelImage | undefined;
}

/** The models of this gateway. May change while it runs. */
export interface Catalog {
  /** In the order of their ids. */
  list(): readonly ModelEntry[];
  find(modelId: string): ModelEntry | undefined;
  /** Reads it again now. Absent where it never changes. @throws Error with the reason; the last one then stays */
  reload?(): Promise<void>;
  close(): void;
}

export interface ModelImage {
  id: string;
  reference: string;
  /** The weights are in it. */
  baked: boolean;
  /** What it computes on. */
  device: Device;
}
