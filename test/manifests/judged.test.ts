import { parseAllDocuments } from 'yaml';
import { LABEL } from '../../builder/images/labels.js';
import type { ManifestFlags } from '../../builder/manifest/settings.js';
import { LABELS, manifestOf } from '../fakes/manifests.js';
import { type Cluster, describeWithKubernetes, type KubeObject, startCluster } from './support/cluster.js';

const NAMESPACE = 'restricted';

/** Everything that changes a manifest: where the weights are, what it runs on, what the operator wants. */
const IMAGES: [name: string, labels: Record<string, string>, flags: Partial<ManifestFlags>][] = [
  ['with its weights', LABELS, {}],
  ['without weights', { ...LABELS, [LABEL.baked]: 'false' }, {}],
  ['without weights, of a gated model', { ...LABELS, [LABEL.baked]: 'false' }, { hfToken: true }],
  [
    'for a GPU',
    { ...LABELS, [LABEL.device]: 'cuda', [LABEL.memory]: '', [LABEL.load]: '' },
    { memory: 2 ** 33 },
  ],
  ['with no figures', { ...LABELS, [LABEL.figures]: '' }, { cpus: 0.5, replicas: 3 }],
  ['with variables', LABELS, { env: { LOG_FORMAT: 'text', ODD: '$(PORT) "quoted" {{x}} %h : # - ünï' } }],
  ['of a bare id', { ...LABELS, [LABEL.model]: '0pt' }, { name: 'opt', image: 'registry.example/a/b:c' }],
];

describeWithKubernetes('a real API server of Kubernetes', (tools) => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(tools, { name: 'judged' });
    await cluster.create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    });
  });
  afterAll(() => cluster?.close());

  test.each(IMAGES)('takes the manifests of an image %s', async (_, labels, flags) => {
    const wanted = { ...flags, namespace: NAMESPACE, host: 'models.example.com', networkPolicy: true };
    const { text } = await manifestOf('kubernetes', wanted, labels);
    const documents = objectsOf(text);
    expect(documents.map(({ kind }) => kind)).toEqual(['Deployment', 'Service', 'NetworkPolicy', 'Ingress']);
    const texts = text.split(/^---$/m);
    for (const [i, document] of documents.entries())
      expect(await verdict(document, texts[i])).toEqual(ACCEPTED);
    expect(await verdict(podOf(documents[0]!))).toEqual(ACCEPTED);
  });

  test('takes a claim for the weights', async () => {
    const labels = { ...LABELS, [LABEL.baked]: 'false' };
    const { text } = await manifestOf('kubernetes', { namespace: NAMESPACE, claim: 'weights' }, labels);
    const [deployment] = objectsOf(text);
    expect(await verdict(deployment!)).toEqual(ACCEPTED);
    expect(JSON.stringify(podOf(deployment!))).toContain('"persistentVolumeClaim":{"claimName":"weights"}');
  });

  test.each(IMAGES)('takes the Knative Service of an image %s', async (_, labels, flags) => {
    const { text } = await manifestOf('knative', { ...flags, namespace: NAMESPACE }, labels);
    const [service] = objectsOf(text);
    expect(await verdict(service!, text)).toEqual(ACCEPTED);
    // Knative makes pods of it as they are, so that these must pass, too.
    expect(await verdict(podOf(service!))).toEqual(ACCEPTED);
  });

  test('refuses what is misspelt', async () => {
    const [deployment] = objectsOf((await manifestOf('kubernetes', { namespace: NAMESPACE })).text);
    containerOf(deployment!).imagePullPolicyy = 'Always';
    expect(await verdict(deployment!)).toMatchObject({
      status: 400,
      message: expect.stringContaining('unknown field "spec.template.spec.containers[0].imagePullPolicyy"'),
    });
    const [service] = objectsOf((await manifestOf('knative', { namespace: NAMESPACE })).text);
    Object.assign(service!.spec as object, { scale: 1 });
    expect(await verdict(service!)).toMatchObject({
      status: 400,
      message: expect.stringContaining('"spec.scale"'),
    });
  });

  test('refuses a pod that is less confined than ours', async () => {
    const [deployment] = objectsOf((await manifestOf('kubernetes', { namespace: NAMESPACE })).text);
    containerOf(deployment!).securityContext = {};
    expect(await verdict(podOf(deployment!))).toMatchObject({
      status: 403,
      message: expect.stringMatching(/violates PodSecurity "restricted:latest".*allowPrivilegeEscalation/),
    });
  });

  async function verdict(document: KubeObject, yaml?: string) {
    const { status, body, warnings } = await cluster.judge(document, yaml);
    return { status, message: body.message, warnings };
  }
});

const ACCEPTED = { status: 201, message: undefined, warnings: [] };

function objectsOf(text: string): KubeObject[] {
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

interface WithTemplate {
  spec: { template: { metadata: { labels: object }; spec: { containers: Record<string, unknown>[] } } };
}

/** The template of a Deployment or a Knative Service as the pod that it leads to. */
function podOf(document: KubeObject): KubeObject {
  const { template } = (document as unknown as WithTemplate).spec;
  const spec: Record<string, unknown> = { ...template.spec };
  for (const field of ['containerConcurrency', 'timeoutSeconds', 'responseStartTimeoutSeconds'])
    delete spec[field];
  const { labels } = template.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'one', namespace: NAMESPACE, labels },
    spec: withPorts(spec),
  };
}

/** Knative fills in the port of probes. */
function withPorts(spec: object): unknown {
  return JSON.parse(
    JSON.stringify(spec).replaceAll(/"httpGet":\{"path":"([^"]+)"\}/g, '"httpGet":{"path":"$1","port":8080}'),
  );
}

function containerOf(document: KubeObject): Record<string, unknown> {
  return (document as unknown as WithTemplate).spec.template.spec.containers[0]!;
}
