import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { jest } from '@jest/globals';
import { Agent } from 'undici';
import { judge, startServer, type Tools } from './api-server.js';
import { type ConversationOptions, startConversation } from './conversation.js';
import { type Answer, callOf, type KubeObject, placeOf } from './kube-calls.js';

export { ACCOUNT } from './api-server.js';
export type { KubeObject } from './kube-calls.js';

jest.setTimeout(120_000);

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

/**
 * A suite about what the API server says. Where KUBERNETES=real a real one is asked, and the suite is skipped with the reason
 * where that can't be had, and fails where it must; else what it said before is enough.
 */
export function describeWithKubernetes(name: string, body: (tools?: Tools) => void): void {
  if (process.env.KUBERNETES !== 'real') return describe(name, () => body());
  const env = { ...process.env, CACHED_ONLY: '1', REQUIRE_KUBERNETES: '' };
  const { status, stdout, stderr } = spawnSync('scripts/kube-apiserver.sh', { env, encoding: 'utf8' });
  if (status === 0) return describe(name, () => body(JSON.parse(stdout) as Tools));
  describe(name, () => {
    test('needs the API server of Kubernetes', () => {
      throw new Error(stderr);
    });
  });
}

export interface ClusterOptions {
  /** Of the file in test/manifests/answers/. */
  name: string;
  standIns?: ConversationOptions['standIns'];
}

/**
 * An API server: a real one on loopback where its programs are given, else one that says what that one has said.
 * @throws with its log when it is not ready in time
 */
export async function startCluster(
  tools: Tools | undefined,
  { name, standIns = [] }: ClusterOptions,
): Promise<Cluster> {
  const real = tools && (await startServer(tools));
  const [token, accounts] = [randomUUID(), randomUUID()];
  const conversation = await startConversation({
    ...{ file: path.join(import.meta.dirname, '../answers', `${name}.json`), standIns, ...judge() },
    accounts: { [`Bearer ${token}`]: 'admin', [`Bearer ${accounts}`]: 'account' },
    ask: real?.ask,
  });
  const close = async () => {
    await conversation.close();
    await real?.close();
  };
  return clusterOf({ url: conversation.url, caFile: conversation.caFile, token, accounts, close });
}

interface Parts extends Pick<Cluster, 'url' | 'caFile' | 'token' | 'close'> {
  accounts: string;
}

function clusterOf({ url, caFile, token, accounts, close }: Parts): Cluster {
  const dispatcher = new Agent({ connect: { ca: readFileSync(caFile) } });
  const send = callOf(url, dispatcher);
  const authorization = `Bearer ${token}`;
  let closed = false;
  const call: Cluster['call'] = (method, at, body) =>
    send(method, at, {
      authorization,
      type: typeof body === 'string' ? 'application/yaml' : 'application/json',
      body: typeof body === 'object' ? JSON.stringify(body) : body,
    });
  return {
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
}
