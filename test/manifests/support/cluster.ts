import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { Agent, request } from 'undici';
import { parse } from 'yaml';
import { freePort } from '../../../gateway/upstream/free-port.js';

jest.setTimeout(120_000);

export interface Answer {
  status: number;
  body: { message?: string; [field: string]: unknown };
  /** What admission warned of. */
  warnings: string[];
}

/** The API server of Kubernetes with an empty etcd: it stores and judges, and nothing runs. */
export interface Cluster {
  url: string;
  /** File with the certificate that it shows. */
  caFile: string;
  /** Bearer token of an administrator, and one of the gateway's service account, which may do what its roles say. */
  token: string;
  accountToken: string;
  /** @param body YAML, sent as it is, or data */
  call(method: string, at: string, body?: string | object): Promise<Answer>;
  /** Creates it for good. @throws with what the server says */
  create(document: KubeObject): Promise<void>;
  /** What the server says to creating it, strictly, from the YAML where that is given; nothing is kept. */
  judge(document: KubeObject, yaml?: string): Promise<Answer>;
  /** Again does nothing. */
  close(): Promise<void>;
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; [field: string]: unknown };
  [field: string]: unknown;
}

interface Tools {
  etcd: string;
  apiserver: string;
  knative: string;
}

/** A suite that needs the API server. It is skipped with the reason where that can't be had, and fails where it must. */
export function describeWithKubernetes(name: string, body: (tools: Tools) => void): void {
  const env = { ...process.env, CACHED_ONLY: '1', REQUIRE_KUBERNETES: '' };
  const { status, stdout, stderr } = spawnSync('scripts/kube-apiserver.sh', { env, encoding: 'utf8' });
  if (status === 0) return describe(name, () => body(JSON.parse(stdout) as Tools));
  if (process.env.REQUIRE_KUBERNETES === '1') {
    return describe(name, () => {
      test('needs the API server of Kubernetes', () => {
        throw new Error(stderr);
      });
    });
  }
  process.stderr.write(`skipped: ${name}: ${stderr}\n`);
  // oxlint-disable-next-line jest/no-disabled-tests -- the reason has been printed, and CI does not come here
  describe.skip(name, () => body({ etcd: '', apiserver: '', knative: '' }));
}

/** Starts both on loopback. @throws with their logs when the server is not ready in time */
export async function startCluster({ etcd, apiserver, knative }: Tools): Promise<Cluster> {
  const folder = await mkdtemp(path.join(tmpdir(), 'kube-'));
  const at = (name: string) => path.join(folder, name);
  const [client, peer, port] = [await freePort(), await freePort(), await freePort()];
  const token = randomUUID();
  const accounts = randomUUID();
  await writeSecrets(at, { token, accounts });
  const children = [
    await start(etcd, at('etcd.log'), etcdFlags(at('data'), { client, peer })),
    await start(apiserver, at('apiserver.log'), serverFlags(at, { etcd: client, port })),
  ];
  const url = `https://127.0.0.1:${port}`;
  const caFile = at('certs/apiserver.crt');
  const close = async () => {
    // The server first: it would complain for long that its store has gone.
    for (const child of children.toReversed()) await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const cluster = clusterOf({ url, caFile, token, accounts, close });
    await untilReady(cluster, children);
    await cluster.create(parse(await readFile(knative, 'utf8')) as KubeObject);
    return cluster;
  } catch (error) {
    const logs = await Promise.all(['etcd.log', 'apiserver.log'].map((name) => readFile(at(name), 'utf8')));
    await close();
    throw new Error(`${String(error)}\n${logs.map((log) => log.slice(-2000)).join('\n')}`, { cause: error });
  }
}

/** The service account of the gateway in docs/operations.md. */
export const ACCOUNT = { namespace: 'models', name: 'slipway-gateway' };

async function writeSecrets(
  at: (name: string) => string,
  { token, accounts }: { token: string; accounts: string },
): Promise<void> {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  await writeFile(at('accounts.key'), privateKey);
  const user = `system:serviceaccount:${ACCOUNT.namespace}:${ACCOUNT.name}`;
  const groups = `"system:serviceaccounts,system:serviceaccounts:${ACCOUNT.namespace}"`;
  await writeFile(at('tokens.csv'), `${token},admin,1,"system:masters"\n${accounts},${user},2,${groups}\n`);
}

function etcdFlags(data: string, { client, peer }: { client: number; peer: number }): string[] {
  const [clients, peers] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
  return [
    ...['--data-dir', data, '--name', 'default', '--initial-cluster', `default=${peers}`],
    ...['--listen-client-urls', clients, '--advertise-client-urls', clients],
    ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
  ];
}

function serverFlags(at: (name: string) => string, { etcd, port }: { etcd: number; port: number }): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    ...['--bind-address=127.0.0.1', `--secure-port=${port}`, `--cert-dir=${at('certs')}`],
    `--token-auth-file=${at('tokens.csv')}`,
    `--service-account-key-file=${at('accounts.key')}`,
    `--service-account-signing-key-file=${at('accounts.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--authorization-mode=RBAC',
    // It would wait for a controller that makes each namespace's account.
    '--disable-admission-plugins=ServiceAccount',
  ];
}

async function start(command: string, log: string, args: string[]): Promise<ChildProcess> {
  const file = await open(log, 'w');
  const child = spawn(command, args, { stdio: ['ignore', file.fd, file.fd] });
  await file.close();
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(late);
}

async function untilReady(cluster: Cluster, children: readonly ChildProcess[]): Promise<void> {
  for (let tries = 0; tries < 400 && children.every(({ exitCode }) => exitCode === null); tries++) {
    const answer = await cluster.call('GET', '/readyz').catch(() => undefined);
    if (answer?.status === 200) return;
    await delay(250);
  }
  throw new Error('the API server is not ready');
}

interface Parts extends Pick<Cluster, 'url' | 'caFile' | 'token' | 'close'> {
  accounts: string;
}

function clusterOf({ url, caFile, token, accounts, close }: Parts): Cluster {
  // Its certificate is its own; that a client demands it is tested with the gateway.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  let closed = false;
  const call: Cluster['call'] = async (method, at, body) => {
    const {
      statusCode,
      headers,
      body: answer,
    } = await request(`${url}${at}`, {
      method: method as 'GET',
      dispatcher,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': typeof body === 'string' ? 'application/yaml' : 'application/json',
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: statusCode,
      body: text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : { message: text },
      warnings: [headers['warning'] ?? []].flat(),
    };
  };
  const cluster: Cluster = {
    ...{ url, caFile, token, call, accountToken: accounts },
    async create(document) {
      const { status, body } = await call('POST', placeOf(document), document);
      if (status !== 201) throw new Error(`${document.kind} is not created (${status}): ${body.message}`);
    },
    judge: (document, yaml) =>
      call('POST', `${placeOf(document)}?dryRun=All&fieldValidation=Strict`, yaml ?? document),
    async close() {
      if (closed) return;
      closed = true;
      await dispatcher.close();
      await close();
    },
  };
  return cluster;
}

const CLUSTER_WIDE = ['Namespace', 'CustomResourceDefinition', 'ClusterRole'];

/** Where objects of a kind are created. */
function placeOf({ apiVersion, kind, metadata }: KubeObject): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const plural = kind.toLowerCase().replace(/s$/, 'se').replace(/y$/, 'ie');
  const scope = CLUSTER_WIDE.includes(kind) ? '' : `/namespaces/${metadata.namespace ?? 'default'}`;
  return `${root}${scope}/${plural}s`;
}
