import { existsSync, readFileSync } from 'node:fs';
import { GatewayError } from '../errors.js';

/** What `gateway serve --upstream kubernetes` is told. */
export interface KubeFlags {
  kubeApi?: string;
  kubeTokenFile?: string;
  kubeCaFile?: string;
  kubeNamespace?: string;
  kubeAddress?: string;
}

/** Where the API server is, and as whom it is asked. */
export interface KubeSettings {
  /** Without a slash at its end. */
  url: string;
  /** Read for every call: clusters replace it. */
  tokenFile: string | undefined;
  caFile: string | undefined;
  namespace: string;
  /** Address of a Service, with `{service}`, `{namespace}` and `{port}`. */
  address: string;
}

/** What Kubernetes gives every pod that has a service account. */
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

const ADDRESS = 'http://{service}.{namespace}.svc:{port}';

/**
 * Flags, else what pods are given.
 * @param inCluster host and port of the API server as the environment of a pod names them
 * @throws GatewayError with what to give
 */
export function kubeSettings(flags: KubeFlags, inCluster: string | undefined): KubeSettings {
  const url = flags.kubeApi ?? (inCluster && `https://${inCluster}`);
  if (url === undefined)
    throw new GatewayError('this is no pod of a cluster; --kube-api names the address of the API server');
  const namespace = flags.kubeNamespace ?? given('namespace', (file) => readFileSync(file, 'utf8').trim());
  if (!namespace) throw new GatewayError('--kube-namespace names the namespace of the models');
  const address = flags.kubeAddress ?? ADDRESS;
  if (!URL.canParse(serviceUrl(address, { service: 'a', namespace: 'b', port: 1 })))
    throw new GatewayError(`--kube-address ${address} gives no address; the default is ${ADDRESS}`);
  return {
    url: url.replace(/\/+$/, ''),
    tokenFile: flags.kubeTokenFile ?? given('token', (file) => file),
    caFile: flags.kubeCaFile ?? given('ca.crt', (file) => file),
    namespace,
    address,
  };
}

function given<T>(name: string, use: (file: string) => T): T | undefined {
  const file = `${ACCOUNT}/${name}`;
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
