import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent } from 'undici';
import { parse } from 'yaml';
import { freePort } from '../../../runtime/network/free-port.js';
import type { Question, Said } from './conversation.js';
import { callOf, type KubeObject, placeOf } from './kube-calls.js';

/** The service account of the gateway in docs/operations/cluster.md. */
export const ACCOUNT = { namespace: 'models', name: 'slipway-gateway' };

export interface Tools {
  etcd: string;
  apiserver: string;
  knative: string;
}

/** What answers depend on: the server as it is built and started, and Knative's definition. */
export function judge(): { kubernetes: string; judge: string } {
  const root = path.join(import.meta.dirname, '../../../scripts');
  const files = [
    'kube-apiserver/go.mod',
    'kube-apiserver/go.sum',
    'kube-apiserver/main.go',
    'kube-apiserver.sh',
  ];
  const [modules, sums, main, script] = files.map((file) => readFileSync(path.join(root, file), 'utf8'));
  const knative = /^KNATIVE\w*=.*$/gm.exec(script!)!.join('\n');
  const flags = serverFlags((name) => name, { etcd: 0, port: 0 });
  return {
    kubernetes: /k8s\.io\/kubernetes (\S+)/.exec(modules!)![1]!,
    judge: JSON.stringify([modules, sums, main, knative, flags]),
  };
}

export interface RealServer {
  ask(question: Question): Promise<Said>;
  close(): Promise<void>;
}

/** Starts both on loopback. */
export async function startServer({ etcd, apiserver, knative }: Tools): Promise<RealServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'kube-'));
  const at = (name: string) => path.join(folder, name);
  const [client, peer, port] = [await freePort(), await freePort(), await freePort()];
  const tokens: Record<string, string> = { admin: randomUUID(), account: randomUUID() };
  await writeSecrets(at, { token: tokens['admin']!, accounts: tokens['account']! });
  const children = [
    await start(etcd, at('etcd.log'), etcdFlags(at('data'), { client, peer })),
    await start(apiserver, at('apiserver.log'), serverFlags(at, { etcd: client, port })),
  ];
  // Its certificate is its own; that a client demands one is tested with the gateway.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const call = callOf(`https://127.0.0.1:${port}`, dispatcher);
  const close = async () => {
    await dispatcher.close();
    // The server first: it would complain for long that its store has gone.
    for (const child of children.toReversed()) await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  const ask: RealServer['ask'] = async ({ method, at: place, who, type, body }) => {
    const authorization = tokens[who] === undefined ? who : `Bearer ${tokens[who]}`;
    const answer = await call(method, place, { authorization, type, body: body || undefined });
    const { status, warnings } = answer;
    const kept = method === 'GET' || status >= 300 ? { body: answer.body } : {};
    return { status, ...(warnings.length > 0 ? { warnings } : {}), ...kept };
  };
  try {
    await untilReady(() => ask({ method: 'GET', at: '/readyz', who: 'admin' }), children);
    const document = parse(await readFile(knative, 'utf8')) as KubeObject;
    const made = { method: 'POST', at: placeOf(document), who: 'admin', body: JSON.stringify(document) };
    const { status, body } = await ask(made);
    if (status !== 201)
      throw new Error(`${document.kind} is not created (${status}): ${JSON.stringify(body)}`);
    return { ask, close };
  } catch (error) {
    const logs = await Promise.all(['etcd.log', 'apiserver.log'].map((name) => readFile(at(name), 'utf8')));
    await close();
    throw new Error(`${String(error)}\n${logs.map((log) => log.slice(-2000)).join('\n')}`, { cause: error });
  }
}

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

async function untilReady(ask: () => Promise<Said>, children: readonly ChildProcess[]): Promise<void> {
  for (let tries = 0; tries < 400 && children.every(({ exitCode }) => exitCode === null); tries++) {
    const answer = await ask().catch(() => undefined);
    if (answer?.status === 200) return;
    await delay(250);
  }
  throw new Error('the API server is not ready');
}
