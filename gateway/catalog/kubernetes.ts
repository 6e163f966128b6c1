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
    const same = entry && entries.get(entry.modelId);
    // Two Services of one model take turns.
    if (same) entries.set(same.modelId, { ...same, addresses: [...same.addresses, ...entry.addresses] });
    else if (entry) entries.set(entry.modelId, entry);
  }
  return sortedById([...entries.values()]);
}

/** Undefined for a Service that says no model and task: its label is none of ours. */
function entryOf(
  { name, annotations, ports }: KubeService,
  { namespace, address }: KubeCatalogOptions['settings'],
): ModelEntry | undefined {
  const modelId = annotations[LABEL.model] ?? '';
  const task = annotations[LABEL.task] ?? '';
  if (!isModelId(modelId) || !isTaskId(task)) return undefined;
  const port = (ports.find((each) => each.name === 'http') ?? ports[0])?.port ?? 80;
  return {
    modelId,
    task,
    ...figuresFromLabels(annotations),
    addresses: [serviceUrl(address, { service: name, namespace, port })],
  };
}
