import { type Agent, request } from 'undici';

export interface Answer {
  status: number;
  body: { message?: string; [field: string]: unknown };
  /** What admission warned of. */
  warnings: string[];
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; [field: string]: unknown };
  [field: string]: unknown;
}

interface Sent {
  authorization: string;
  type?: string;
  body?: string;
}

export const callOf =
  (url: string, dispatcher: Agent) =>
  async (method: string, at: string, { authorization, type, body }: Sent): Promise<Answer> => {
    const answer = await request(`${url}${at}`, {
      method: method as 'GET',
      dispatcher,
      headers: { authorization, 'content-type': type ?? 'application/json' },
      body,
    });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      body: text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : { message: text },
      warnings: [answer.headers['warning'] ?? []].flat(),
    };
  };

const CLUSTER_WIDE = ['Namespace', 'CustomResourceDefinition', 'ClusterRole'];

/** Where objects of a kind are created. */
export function placeOf({ apiVersion, kind, metadata }: KubeObject): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const plural = kind.toLowerCase().replace(/s$/, 'se').replace(/y$/, 'ie');
  const scope = CLUSTER_WIDE.includes(kind) ? '' : `/namespaces/${metadata.namespace ?? 'default'}`;
  return `${root}${scope}/${plural}s`;
}
