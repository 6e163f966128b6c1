import type { Catalog, ModelEntry } from './entry.js';

export interface PolledOptions {
  /** @throws Error with the reason when the source can't be read */
  load(): Promise<ReadonlyMap<string, ModelEntry>>;
  /** Name of the source, for the log. */
  source: string;
  everyMs: number;
  log: (line: string) => void;
  close?(): void;
}

/**
 * A catalogue that is loaded again and again from its source. While the source does not answer, the last catalogue
 * stays and `log` is called once.
 * @throws what the first `load` throws
 */
export async function polledCatalog(options: PolledOptions): Promise<Catalog> {
  const { load, source, everyMs, log, close = () => {} } = options;
  let entries = await load();
  let lastError: string | undefined;
  let timer: NodeJS.Timeout;
  let closed = false;

  async function reload(): Promise<void> {
    const current = await load();
    if (lastError !== undefined) log(`${source} answers again`);
    lastError = undefined;
    logChanges(entries, current, log);
    entries = current;
  }

  async function refresh(): Promise<void> {
    try {
      await reload();
    } catch (error) {
      const { message } = error as Error;
      if (message !== lastError && !closed) log(`${message}; the last catalogue stays`);
      lastError = message;
    }
    if (!closed) scheduleRefresh();
  }

  function scheduleRefresh(): void {
    timer = setTimeout(() => void refresh(), everyMs).unref();
  }

  scheduleRefresh();
  return {
    list: () => [...entries.values()],
    find: (modelId) => entries.get(modelId),
    reload,
    close() {
      closed = true;
      clearTimeout(timer);
      close();
    },
  };
}

function logChanges(
  before: ReadonlyMap<string, ModelEntry>,
  current: ReadonlyMap<string, ModelEntry>,
  log: (line: string) => void,
): void {
  for (const id of current.keys()) if (!before.has(id)) log(`${id} is there`);
  for (const id of before.keys()) if (!current.has(id)) log(`${id} has gone`);
}
