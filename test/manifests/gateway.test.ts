import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { LABEL } from '../../builder/images/labels.js';
import { LABELS, manifestOf } from '../fakes/manifests.js';
import { waitFor } from '../fakes/server.js';
import {
  ACCOUNT,
  type Cluster,
  describeWithKubernetes,
  type KubeObject,
  startCluster,
} from './support/cluster.js';

const { namespace: NAMESPACE } = ACCOUNT;
/** A port for the model's, which each run has another of. */
const STAND_IN = '61234';
const JSON_TYPE = 'application/json; charset=utf-8';

/** A container of a model, as far as the gateway asks it. */
async function startModel(): Promise<{ server: Server; port: number; turn(ready: boolean): void }> {
  let ready = true;
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', JSON_TYPE);
    if (request.url === '/health') response.writeHead(ready ? 200 : 503).end();
    else response.end(JSON.stringify({ error: null, output: request.url }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, port, turn: (now) => void (ready = now) };
}

describeWithKubernetes('the gateway beside a real API server', (tools) => {
  let cluster: Cluster;
  let folder: string;
  let model: Awaited<ReturnType<typeof startModel>>;
  const running: ReturnType<typeof spawn>[] = [];
  beforeAll(async () => {
    model = await startModel();
    cluster = await startCluster(tools, { name: 'gateway', standIns: [[String(model.port), STAND_IN]] });
    folder = await mkdtemp(path.join(tmpdir(), 'slipway-kube-'));
    await writeFile(path.join(folder, 'token'), cluster.accountToken);
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } });
  });
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
    model?.server.closeAllConnections();
    model?.server.close();
    await cluster?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The built gateway as the service account, outside of the cluster. */
  function start(more: Record<string, string> = {}) {
    const flags = {
      '--port': '0',
      '--kube-api': cluster.url,
      '--kube-token-file': path.join(folder, 'token'),
      '--kube-ca-file': cluster.caFile,
      '--kube-namespace': NAMESPACE,
      '--kube-address': 'http://127.0.0.1:{port}',
      '--rate': '100000/60s',
      ...more,
    };
    const args = [
      'dist/gateway/main.js',
      'serve',
      '--upstream',
      'kubernetes',
      ...Object.entries(flags).flat(),
    ];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    running.push(child);
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    return { ended: once(child, 'close'), stdout: () => stdout, stderr: () => stderr };
  }

  test('is what the documents describe, which the cluster takes', async () => {
    const documents = parseAllDocuments(await readFile('templates/gateway.yaml', 'utf8'));
    const objects = documents.map((document) => document.toJS() as KubeObject);
    for (const object of objects) {
      const { status, body, warnings } = await cluster.judge(object);
      expect({ kind: object.kind, status, told: body.message, warnings }).toEqual({
        ...{ kind: object.kind, status: 201, told: undefined },
        warnings: [],
      });
      if (object.kind !== 'Deployment') await cluster.create(object);
    }
    const deployment = objects.find(({ kind }) => kind === 'Deployment') as KubeObject & {
      spec: { template: { spec: { serviceAccountName?: string } } };
    };
    const { serviceAccountName, ...spec } = deployment.spec.template.spec;
    expect(serviceAccountName).toBe(ACCOUNT.name);
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one', namespace: NAMESPACE }, spec };
    expect((await cluster.judge(pod)).body.message).toBeUndefined();
  });

  test('does not start without the role, or as nobody, and says what is missing', async () => {
    const lacks = start({ '--kube-namespace': 'default' });
    expect((await lacks.ended)[0]).toBe(2);
    expect(lacks.stderr()).toContain('docs/operations/cluster.md has the role');
    await writeFile(path.join(folder, 'wrong'), 'nobody');
    const nobody = start({ '--kube-token-file': path.join(folder, 'wrong') });
    expect((await nobody.ended)[0]).toBe(2);
    expect(nobody.stderr()).toContain('does not know the token');
  });

  test('lists and asks models as they come and go, and outlives the API server', async () => {
    const gateway = start();
    await waitFor(() => gateway.stdout() !== '');
    const base = gateway.stdout().trim();
    const authorization = /takes the key (\S+)/.exec(gateway.stderr())![1]!;
    const ask = async (at: string, body?: object) => {
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const headers = { authorization, 'content-type': 'application/json' };
      const answer = await fetch(`${base}${at}`, { headers, ...sent });
      return {
        status: answer.status,
        ...((await answer.json()) as { output: unknown; error: string | null }),
      };
    };
    const rows = async () =>
      (await ask('/list/models')).output as { modelId: string; params: number | null }[];
    expect(await rows()).toEqual([]);

    const [, service] = objectsOf((await manifestOf('kubernetes', { namespace: NAMESPACE })).text) as [
      KubeObject,
      KubeObject & { spec: { ports: { port: number }[] } },
    ];
    service.spec.ports[0]!.port = model.port;
    await cluster.create(service);
    const scaled = { ...LABELS, [LABEL.model]: 'org/scaled' };
    await cluster.create(
      parse((await manifestOf('knative', { namespace: NAMESPACE }, scaled)).text) as KubeObject,
    );
    await waitFor(async () => (await rows()).length === 2);
    expect(await rows()).toMatchObject([
      { modelId: LABELS[LABEL.model], params: 0.06695501, ramRequired: 0.735, task: 'text-classification' },
      { modelId: 'org/scaled' },
    ]);

    model.turn(false);
    const held = ask(`/${LABELS[LABEL.model]}`, { text: 'a text' });
    model.turn(true);
    expect(await held).toEqual({ status: 200, error: null, output: '/run' });

    const place = `/apis/serving.knative.dev/v1/namespaces/${NAMESPACE}/services/org--scaled`;
    expect((await cluster.call('DELETE', place)).status).toBe(200);
    await waitFor(async () => (await rows()).length === 1);
    expect((await ask('/org/scaled', { text: 'a text' })).status).toBe(404);

    await cluster.close();
    await waitFor(() => gateway.stderr().includes('the last catalogue stays'));
    expect(await ask(`/${LABELS[LABEL.model]}`, { text: 'a text' })).toMatchObject({ status: 200 });
    expect(gateway.stderr()).not.toContain(cluster.accountToken);
  });
});

function objectsOf(text: string): KubeObject[] {
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}
