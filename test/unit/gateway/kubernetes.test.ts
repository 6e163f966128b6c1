import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { kubernetesCatalog } from '../../../gateway/catalog/kubernetes.js';
import { fixedCatalog, mergedCatalog } from '../../../gateway/catalog/entries.js';
import type { Catalog, ModelEntry } from '../../../gateway/catalog/entry.js';
import { openKubeApi } from '../../../gateway/kubernetes/api.js';
import { kubeSettings } from '../../../gateway/kubernetes/settings.js';
import { kubernetesUpstream } from '../../../gateway/upstream/kubernetes.js';
import { closeServers, started } from '../../fakes/gateway.js';
import { freePort, waitFor } from '../../fakes/server.js';

const serve = (listener: RequestListener) => started(createServer(listener));

/** What the API server of a small cluster answers, as far as it is asked. */
interface Stand {
  status: number;
  services: object[];
  /** 404: the cluster has no Knative. */
  knative?: object[];
  body?: string;
  asked: { url: string; authorization: string | undefined }[];
}

const stand = (services: object[] = []): Stand => ({ status: 200, services, asked: [] });

const api = (cluster: Stand) =>
  serve((request, response) => {
    cluster.asked.push({ url: request.url!, authorization: request.headers.authorization });
    const knative = request.url!.startsWith('/apis/serving.knative.dev/');
    const items = knative ? cluster.knative : cluster.services;
    response.statusCode = items ? cluster.status : 404;
    response.end(cluster.body ?? JSON.stringify({ kind: 'ServiceList', items }));
  });

const service = (
  name: string,
  modelId: string,
  more: Record<string, string> = {},
  ports: object[] = [{ port: 80 }],
) => ({
  metadata: {
    name,
    annotations: { 'io.slipway.model': modelId, 'io.slipway.task': 'text-classification', ...more },
  },
  spec: { ports },
});

const catalogs: Catalog[] = [];
afterEach(async () => {
  for (const catalog of catalogs.splice(0)) catalog.close();
  await closeServers();
});

async function open(cluster: Stand, flags: { kubeTokenFile?: string; kubeApi?: string } = {}) {
  const log: string[] = [];
  const settings = kubeSettings(
    { kubeApi: flags.kubeApi ?? (await api(cluster)), kubeNamespace: 'models', ...flags },
    undefined,
  );
  const catalog = await kubernetesCatalog({
    api: await openKubeApi(settings),
    settings,
    log: (line) => log.push(line),
    everyMs: 10,
  });
  catalogs.push(catalog);
  return { catalog, log };
}

describe('the catalogue of a cluster', () => {
  test('has the Services that name a model, with what they say of it', async () => {
    const figures = {
      'io.slipway.parameters': '66955010',
      'io.slipway.memory': '700000000',
      'io.slipway.figures': 'measured',
    };
    const cluster = stand([
      service('b', 'Org/Model', figures, [
        { name: 'metrics', port: 9 },
        { name: 'http', port: 8000 },
      ]),
      service('a', 'a/first'),
      { metadata: { name: 'alien' }, spec: {} },
      service('evil', '../../etc', {}),
    ]);
    const { catalog } = await open(cluster);
    expect(catalog.list()).toEqual([
      {
        ...{ modelId: 'Org/Model', task: 'text-classification', params: 0.06695501, ramRequired: 0.735 },
        ...{ addresses: ['http://b.models.svc:8000'], figures: 'measured' },
      },
      {
        ...{ modelId: 'a/first', task: 'text-classification', params: null, ramRequired: 0.3 },
        ...{ addresses: ['http://a.models.svc:80'], figures: 'assumed' },
      },
    ]);
    expect(cluster.asked[0]!.url).toBe(
      '/api/v1/namespaces/models/services?labelSelector=io.slipway.model%2C!serving.knative.dev%2Fservice%2C!serving.knative.dev%2Froute',
    );
  });

  test('takes the Services of Knative beside them; two of one model take turns', async () => {
    const cluster = {
      ...stand([service('plain', 'a/b')]),
      knative: [service('scaled', 'a/b'), service('other', 'c/d')],
    };
    const { catalog } = await open(cluster);
    expect(catalog.find('a/b')!.addresses).toEqual([
      'http://plain.models.svc:80',
      'http://scaled.models.svc:80',
    ]);
    expect(catalog.find('c/d')).toBeDefined();
  });

  test('follows the cluster', async () => {
    const cluster = stand([service('a', 'a/b')]);
    const { catalog, log } = await open(cluster);
    cluster.services = [service('c', 'c/d')];
    await waitFor(() => catalog.find('c/d') !== undefined);
    expect(catalog.find('a/b')).toBeUndefined();
    expect(log).toEqual(['c/d is there', 'a/b has gone']);
  });

  test.each([
    [{ status: 500 }, 'answers with 500'],
    [{ status: 403 }, 'docs/operations/cluster.md has the role'],
    [{ status: 401 }, '--kube-token-file names another'],
    [{ body: '<html>proxy</html>' }, 'is no API server of Kubernetes'],
    [{ body: '{"items":[{}]}' }, 'is no API server of Kubernetes'],
  ])('stays as it was while the API says %j, and tells it once', async (fault, told) => {
    const cluster = stand([service('a', 'a/b')]);
    const { catalog, log } = await open(cluster);
    const { status, body } = cluster;
    Object.assign(cluster, fault);
    await waitFor(() => log.length > 0);
    const asked = cluster.asked.length;
    await waitFor(() => cluster.asked.length > asked + 3);
    expect(catalog.find('a/b')).toBeDefined();
    expect(log).toEqual([expect.stringContaining(told)]);
    expect(log[0]).toContain('the last catalogue stays');
    Object.assign(cluster, { status, body });
    await waitFor(() => log.length > 1);
    expect(log[1]).toBe('the API server answers again');
  });

  test('of an API server that can’t be reached is an error', async () => {
    const kubeApi = `http://127.0.0.1:${await freePort()}`;
    await expect(open(stand(), { kubeApi })).rejects.toThrow(/does not answer \(ECONNREFUSED\)/);
  });

  test('is asked for with the token of the moment, which no message holds', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'slipway-token-')), 'token');
    writeFileSync(file, 'secret-one\n');
    const cluster = stand();
    const { log } = await open(cluster, { kubeTokenFile: file });
    expect(cluster.asked[0]!.authorization).toBe('Bearer secret-one');
    writeFileSync(file, 'secret-two\n');
    await waitFor(() => cluster.asked.at(-1)!.authorization === 'Bearer secret-two');
    cluster.status = 401;
    await waitFor(() => log.length > 0);
    expect(log.join()).not.toContain('secret');
  });

  test('can have a file’s models beside it, which come first', () => {
    const entry = (modelId: string, address: string): ModelEntry => ({
      ...{ modelId, task: 'chat', params: null, ramRequired: 1, figures: 'given' },
      addresses: [address],
    });
    const file = fixedCatalog([entry('b/b', 'file')]);
    const cluster = fixedCatalog([entry('a/a', 'cluster'), entry('b/b', 'cluster')]);
    const both = mergedCatalog(file, cluster);
    expect(both.list().map(({ modelId, addresses }) => [modelId, ...addresses])).toEqual([
      ['a/a', 'cluster'],
      ['b/b', 'file'],
    ]);
    expect(both.find('c/c')).toBeUndefined();
  });
});

describe('where the API server is', () => {
  test('a pod knows by itself; elsewhere it is given', () => {
    expect(kubeSettings({ kubeNamespace: 'models' }, '10.0.0.1:443').url).toBe('https://10.0.0.1:443');
    expect(() => kubeSettings({}, undefined)).toThrow(/--kube-api/);
    expect(() => kubeSettings({}, '10.0.0.1:443')).toThrow(/--kube-namespace/);
    expect(() => kubeSettings({ kubeNamespace: 'a', kubeAddress: 'nowhere' }, '10.0.0.1:443')).toThrow(
      /--kube-address/,
    );
  });
});

describe('servers that a cluster runs', () => {
  const entry = (...addresses: string[]): ModelEntry => ({
    ...{ modelId: 'a/b', task: 'chat', params: null, ramRequired: 1, figures: 'given', addresses },
  });
  const upstream = (maxWaiting = 8) => kubernetesUpstream({ maxWaiting, trustMs: 60_000, probeEveryMs: 5 });
  const patience = () => AbortSignal.timeout(10_000);

  test('hold callers until a pod is ready, and are looked at once for all of them', async () => {
    let [status, looks] = [503, 0];
    const url = await serve((request, response) => {
      looks++;
      response.statusCode = request.url === '/health' ? status : 404;
      response.end();
    });
    const pods = upstream();
    const calls = [1, 2, 3].map(() => pods.acquire(entry(url), patience()));
    await waitFor(() => looks > 2);
    status = 200;
    const leases = await Promise.all(calls);
    expect(leases.map((lease) => [lease.url, lease.cold])).toEqual([1, 2, 3].map(() => [url, true]));
    const before = looks;
    expect(await pods.acquire(entry(url), patience())).toMatchObject({ url, cold: false });
    expect(looks).toBe(before);
    await pods.close();
  });

  test('hold callers while nobody listens there at all', async () => {
    const port = await freePort();
    const pods = upstream();
    const call = pods.acquire(entry(`http://127.0.0.1:${port}`), patience());
    const server = createServer((_, response) => response.end()).listen(port, '127.0.0.1');
    expect(await call).toMatchObject({ cold: true });
    server.closeAllConnections();
    server.close();
    await pods.close();
  });

  test('take turns where there are several', async () => {
    const urls = [await serve((_, response) => response.end()), await serve((_, response) => response.end())];
    const pods = upstream();
    const seen = new Set<string>();
    for (let i = 0; i < 2; i++) seen.add((await pods.acquire(entry(...urls), patience())).url);
    expect([...seen].toSorted()).toEqual(urls.toSorted());
    await pods.close();
  });

  test('let go of callers who have left, and of those beyond the bound', async () => {
    const url = await serve((_, response) => response.writeHead(503).end());
    const pods = upstream(1);
    const left = new AbortController();
    const first = pods.acquire(entry(url), left.signal);
    await expect(pods.acquire(entry(url), patience())).rejects.toMatchObject({ code: 'overloaded' });
    left.abort(new Error('left'));
    await expect(first).rejects.toThrow('left');
    await expect(pods.acquire(entry(url), left.signal)).rejects.toThrow('left');
    await expect(pods.acquire(entry(), patience())).rejects.toMatchObject({ code: 'not_ready' });
    await pods.close();
  });
});
