import { existsSync, readFileSync } from 'node:fs';
import { GatewayError } from '../errors.js';

/** Flags of `gateway serve --upstream kubernetes`. */
export interface KubeFlags {
  kubeApi?: string;
  kubeTokenFile?: string;
  kubeCaFile?: string;
  kubeNamespace?: string;
  kubeAddress?: string;
}

/** Address of the API server, and the account to use. */
export interface KubeSettings {
  /** Without a trailing slash. */
  url: string;
  /** Read before every call, because clusters rotate tokens. */
  tokenFile: string | undefined;
  caFile: string | undefined;
  namespace: string;
  /** Address of a Service, with `{service}`, `{namespace}` and `{port}`. */
  address: string;
}

/** Folder that Kubernetes mounts into pods with a service account. */
const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

const DEFAULT_ADDRESS = 'http://{service}.{namespace}.svc:{port}';

/**
 * Settings from the flags; the defaults are those of the pod.
 * @param inCluster host and port of the API server as the environment of a pod names them
 * @throws GatewayError that names the missing flag
 */
export function kubeSettings(flags: KubeFlags, inCluster: string | undefined): KubeSettings {
  const url = flags.kubeApi ?? (inCluster && `https://${inCluster}`);
  if (url === undefined)
    throw new GatewayError('this is no pod of a cluster; --kube-api names the address of the API server');
  const namespace =
    flags.kubeNamespace ?? fromAccount('namespace', (file) => readFileSync(file, 'utf8').trim());
  if (!namespace) throw new GatewayError('--kube-namespace names the namespace of the models');
  const address = flags.kubeAddress ?? DEFAULT_ADDRESS;
  if (!URL.canParse(serviceUrl(address, { service: 'a', namespace: 'b', port: 1 })))
    throw new GatewayError(`--kube-address ${address} gives no address; the default is ${DEFAULT_ADDRESS}`);
  return {
    url: url.replace(/\/+$/, ''),
    tokenFile: flags.kubeTokenFile ?? fromAccount('token', (file) => file),
    caFile: flags.kubeCaFile ?? fromAccount('ca.crt', (file) => file),
    namespace,
    address,
  };
}

function fromAccount<T>(name: string, use: (file: string) => T): T | undefined {
  const file = `${ACCOUNT_FOLDER}/${name}`;
  return existsSync(file) ? use(file) : undefined;
}

export interface ServiceAddress {
  service: string;
  namespace: string;
  port: number;
}

export function serviceUrl(template: string, { service, namespace, port }: ServiceAddress): string {
  return template
    .replaceAll('{service}', service)
    .replaceAll('{namespace}', namespace)
    .replaceAll('{port}', String(port));
}
