import { isModelId } from '../../runtime/core/ids.js';
import { LABEL } from '../../builder/images/labels.js';
import { isTaskId } from '../../runtime/core/task-ids.js';
import type { KubeApi, KubeService } from '../kubernetes/api.js';
import { serviceUrl, type KubeSettings } from '../kubernetes/settings.js';
import type { Catalog, ModelEntry } from './entry.js';
import { figuresFromLabels, sortedById } from './entries.js';
import { polledCatalog } from './polled.js';

export interface KubeCatalogOptions {
  api: KubeApi;
  settings: Pick<KubeSettings, 'namespace' | 'address'>;
  log: (line: string) => void;
  /** Time between two lists. */
  everyMs?: number;
}

const EVERY_MS = 5000;

/**
 * The models of a namespace, from the Services that `builder manifest` made. Polled; while the API server does not
 * answer, the last catalogue stays and `log` is called once.
 * @throws GatewayError when the first list fails
 */
export async function kubernetesCatalog(options: KubeCatalogOptions): Promise<Catalog> {
  const { api, log, everyMs = EVERY_MS } = options;
  return polledCatalog({
    ...{ everyMs, log, source: 'the API server' },
    load: () => entriesOf(options),
    close: () => void api.close(),
  });
}

async function entriesOf({ api, settings }: KubeCatalogOptions): Promise<Map<string, ModelEntry>> {
  const services = [...(await api.services()), ...(await api.knativeServices())];
  const entries = new Map<string, ModelEntry>();
  for (const service of services.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const entry = entryOf(service, settings);
    const existing = entry && entries.get(entry.modelId);
    // Several Services of one model are used in turn.
    if (existing)
      entries.set(existing.modelId, { ...existing, addresses: [...existing.addresses, ...entry.addresses] });
    else if (entry) entries.set(entry.modelId, entry);
  }
  return sortedById([...entries.values()]);
}

/** Undefined for a Service without a valid model and task. */
function entryOf(
  { name, annotations, ports }: KubeService,
  { namespace, address }: KubeCatalogOptions['settings'],
): ModelEntry | undefined {
  const modelId = annotations[LABEL.model] ?? '';
  const task = annotations[LABEL.task] ?? '';
  if (!isModelId(modelId) || !isTaskId(task)) return undefined;
  const port = (ports.find(({ name }) => name === 'http') ?? ports[0])?.port ?? 80;
  return {
    modelId,
    task,
    ...figuresFromLabels(annotations),
    addresses: [serviceUrl(address, { service: name, namespace, port })],
  };
}
