import type { Catalog, ModelEntry } from './entry.js';

export interface PolledOptions {
  /** @throws Error with what is wrong with the source */
  load(): Promise<ReadonlyMap<string, ModelEntry>>;
  /** Who is asked, for the log. */
  source: string;
  everyMs: number;
  log: (line: string) => void;
  close?(): void;
}

/**
 * A catalogue that somebody else keeps, and who is asked again and again. While the source does not answer, what was
 * there stays, and `log` is told once.
 * @throws what the first `load` throws
 */
export async function polledCatalog(options: PolledOptions): Promise<Catalog> {
  const { load, source, everyMs, log, close = () => {} } = options;
  let entries = await load();
  let told: string | undefined;
  let timer: NodeJS.Timeout;
  let closed = false;

  async function refresh(): Promise<void> {
    try {
      const now = await load();
      if (told !== undefined) log(`${source} answers again`);
      told = undefined;
      tellChanges(entries, now, log);
      entries = now;
    } catch (error) {
      const { message } = error as Error;
      if (message !== told && !closed) log(`${message}; the last catalogue stays`);
      told = message;
    }
    if (!closed) next();
  }

  function next(): void {
    timer = setTimeout(() => void refresh(), everyMs).unref();
  }

  next();
  return {
    list: () => [...entries.values()],
    find: (modelId) => entries.get(modelId),
    close() {
      closed = true;
      clearTimeout(timer);
      close();
    },
  };
}

function tellChanges(
  before: ReadonlyMap<string, ModelEntry>,
  now: ReadonlyMap<string, ModelEntry>,
  log: (line: string) => void,
): void {
  for (const id of now.keys()) if (!before.has(id)) log(`${id} is there`);
  for (const id of before.keys()) if (!now.has(id)) log(`${id} has gone`);
}
