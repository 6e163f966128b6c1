import { isModelId } from '../../runtime/core/ids.js';
import { isTaskId } from '../../runtime/core/task-ids.js';
import { type KubeApi, type KubeService } from '../kubernetes/api.js';
import { addressOf, type KubeSettings } from '../kubernetes/settings.js';
import type { Catalog, ModelEntry } from './entry.js';
import { byId, LEAST_GB } from './file.js';

export interface KubeCatalogOptions {
  api: KubeApi;
  settings: Pick<KubeSettings, 'namespace' | 'address'>;
  log: (line: string) => void;
  /** How often the cluster is asked. */
  everyMs?: number;
}

const EVERY_MS = 5000;

/**
 * The models of a namespace: Services that `builder manifest` has made. They appear and vanish as the cluster's do.
 * While the API server does not answer, the last catalogue stays, and `log` is told once.
 * @throws GatewayError when the first list can't be had
 */
export async function kubernetesCatalog(options: KubeCatalogOptions): Promise<Catalog> {
  const { api, log, everyMs = EVERY_MS } = options;
  let entries = await entriesOf(options);
  let told: string | undefined;
  let timer: NodeJS.Timeout;
  let closed = false;

  async function refresh(): Promise<void> {
    try {
      const now = await entriesOf(options);
      if (told !== undefined) log('the API server answers again');
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
      void api.close();
    },
  };
}

async function entriesOf({ api, settings }: KubeCatalogOptions): Promise<Map<string, ModelEntry>> {
  const services = [...(await api.services()), ...(await api.knativeServices())];
  const entries = new Map<string, ModelEntry>();
  for (const service of services.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const entry = entryOf(service, settings);
    const same = entry && entries.get(entry.modelId);
    // Two Services of one model take turns.
    if (same) entries.set(same.modelId, { ...same, addresses: [...same.addresses, ...entry.addresses] });
    else if (entry) entries.set(entry.modelId, entry);
  }
  return byId([...entries.values()]);
}

/** Undefined for a Service that says no model and task: its label is none of ours. */
function entryOf(
  { name, annotations, ports }: KubeService,
  { namespace, address }: KubeCatalogOptions['settings'],
): ModelEntry | undefined {
  const modelId = annotations['io.slipway.model'] ?? '';
  const task = annotations['io.slipway.task'] ?? '';
  if (!isModelId(modelId) || !isTaskId(task)) return undefined;
  const parameters = figure(annotations['io.slipway.parameters']);
  const memory = figure(annotations['io.slipway.memory']);
  const port = (ports.find((each) => each.name === 'http') ?? ports[0])?.port ?? 80;
  return {
    modelId,
    task,
    params: parameters === undefined ? null : parameters / 1e9,
    ramRequired: memory === undefined ? LEAST_GB : memory / 1e9,
    addresses: [addressOf(address, { service: name, namespace, port })],
  };
}

function figure(text = ''): number | undefined {
  return /^\d{1,15}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}

function tellChanges(
  before: ReadonlyMap<string, ModelEntry>,
  now: ReadonlyMap<string, ModelEntry>,
  log: (line: string) => void,
): void {
  for (const id of now.keys()) if (!before.has(id)) log(`${id} is there`);
  for (const id of before.keys()) if (!now.has(id)) log(`${id} has gone`);
}
