import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import * as z from 'zod';
import { LABEL } from '../../builder/images/labels.js';
import { GatewayError } from '../errors.js';
import type { KubeSettings } from './settings.js';

const stringMap = z.record(z.string(), z.string()).default({});

const list = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), annotations: stringMap }),
      spec: z.object({
        ports: z.array(z.object({ name: z.string().optional(), port: z.number() })).optional(),
      }),
    }),
  ),
});

/** A Kubernetes Service, or a Knative one, which lists no ports. */
export interface KubeService {
  name: string;
  annotations: Readonly<Record<string, string>>;
  ports: readonly { name?: string | undefined; port: number }[];
}

export interface KubeApi {
  /** Services with a model's label. @throws GatewayError with the reason and a remedy */
  services(): Promise<KubeService[]>;
  /** The same for Knative Services; empty when Knative is not installed. @throws GatewayError */
  knativeServices(): Promise<KubeService[]>;
  close(): Promise<void>;
}

/** Excludes the Services that Knative creates itself: they inherit the labels of their Knative Service. */
const MODEL_SELECTOR = `${LABEL.model},!serving.knative.dev/service,!serving.knative.dev/route`;

const TIMEOUT_MS = 10_000;

/** @throws GatewayError when the certificate can't be read */
export async function openKubeApi(settings: KubeSettings): Promise<KubeApi> {
  const { namespace, caFile } = settings;
  const ca = caFile === undefined ? undefined : await read(caFile, 'certificate');
  const agent = new Agent({ connect: { ca }, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  const listServices = async (group: string, optional: boolean) => {
    const path = `${group}/namespaces/${namespace}/services?labelSelector=${encodeURIComponent(MODEL_SELECTOR)}`;
    const answer = await get(settings, path, agent);
    return answer === undefined && optional ? [] : servicesIn(settings, answer);
  };
  return {
    services: () => listServices('/api/v1', false),
    knativeServices: () => listServices('/apis/serving.knative.dev/v1', true),
    close: () => agent.destroy(),
  };
}

/** @returns undefined for 404 */
async function get(
  { url, tokenFile, namespace }: KubeSettings,
  path: string,
  dispatcher: Agent,
): Promise<unknown> {
  const token = tokenFile === undefined ? undefined : (await read(tokenFile, 'token')).trim();
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await request(`${url}${path}`, {
    headers,
    dispatcher,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new GatewayError(`the API server ${url} does not answer (${reasonOf(error)})`);
  });
  const text = await answer.body.text();
  if (answer.statusCode === 404) return undefined;
  if (answer.statusCode === 401)
    throw new GatewayError(`the API server ${url} does not know the token; --kube-token-file names another`);
  if (answer.statusCode === 403)
    throw new GatewayError(
      `the API server ${url} does not let this account list services in ${namespace}; docs/operations/cluster.md has the role`,
    );
  if (answer.statusCode !== 200)
    throw new GatewayError(`the API server ${url} answers with ${answer.statusCode}`);
  return parseJson(text);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function servicesIn({ url }: KubeSettings, answer: unknown): KubeService[] {
  const result = list.safeParse(answer);
  if (!result.success)
    throw new GatewayError(`${url} is no API server of Kubernetes: it gives no list of services`);
  return result.data.items.map(({ metadata, spec }) => ({
    name: metadata.name,
    annotations: metadata.annotations,
    ports: spec.ports ?? [],
  }));
}

async function read(file: string, what: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new GatewayError(`the ${what} in ${file} can't be read (${error.code})`);
  });
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
