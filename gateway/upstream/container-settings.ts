import { randomBytes } from 'node:crypto';
import { SECRETS, type Secrets, type ServerOptions } from '../../builder/docker/fleet.js';
import { hubAddress } from '../../runtime/store/hub-address.js';
import type { ModelEntry } from '../catalog/entry.js';
import type { ContainerTracing } from './container-tracing.js';

/** What containers of a gateway are told, beside what their model needs. */
export interface ContainerOptions {
  /** Name of this gateway, by which it finds its containers after a restart. */
  name: string;
  /** Containers get no access to outside networks; their images hold all weights. */
  offline: boolean;
  hub: { token?: string | undefined; endpoint?: string | undefined };
  /** Variables of proxies without passwords, which `docker inspect` would show. */
  proxies: Readonly<Record<string, string>>;
  /** Where containers send their spans; not with `offline`, for a collector is elsewhere. */
  tracing: ContainerTracing;
  /** Limits of request bodies, where they differ from the servers' defaults. */
  body: { maxBytes: number | undefined; maxValues: number | undefined };
}

/** Label of containers, networks and volumes: the gateway that they belong to. */
export const GATEWAY_LABEL = 'io.slipway.gateway';

/** Where servers listen. */
export const PORT = 8080;

export function networkOf(gateway: string): string {
  return `slipway-${gateway}`;
}

const titleOf = ({ modelId }: ModelEntry) => modelId.replace('/', '_');

/** Names of containers that wait begin with it, and no others: a gateway's name has no point. */
export const spareName = (gateway: string) => `slipway-${gateway}.waits-`;

export function containerName(prefix: string, entry: ModelEntry): string {
  return `${prefix}${titleOf(entry).slice(0, 60)}-${randomBytes(3).toString('hex')}`;
}

/** With credentials the hub's address is a secret. */
function isSecretHub({ hub: { endpoint } }: ContainerOptions): boolean {
  return endpoint !== undefined && hubAddress(endpoint).authorization !== undefined;
}

export function secretsOf({ image }: ModelEntry, options: ContainerOptions): Secrets {
  const { token, endpoint } = options.hub;
  return {
    KEY: randomBytes(16).toString('hex'),
    ...(token === undefined || image?.baked || options.offline ? {} : { HF_TOKEN: token }),
    ...(isSecretHub(options) ? { HF_ENDPOINT: endpoint! } : {}),
    ...(options.offline ? {} : options.tracing.secrets),
  };
}

export function serverOptions(entry: ModelEntry, options: ContainerOptions): Omit<ServerOptions, 'name'> {
  const { modelId, image, ramRequired, figures } = entry;
  if (!image) throw new Error(`there is no image of it on this engine; "builder build ${modelId}" makes one`);
  const { name, hub, body, offline, proxies, tracing } = options;
  const labels = { [GATEWAY_LABEL]: name };
  const volume = { name: `slipway-weights-${titleOf(entry)}`, path: '/server/model', labels };
  const files = Object.keys(secretsOf(entry, options)).map((secret) => [
    `${secret}_FILE`,
    `${SECRETS}/${secret}`,
  ]);
  return {
    image: image.id,
    network: networkOf(name),
    env: {
      PORT: String(PORT),
      ...(offline ? {} : { ...proxies, ...tracing.env }),
      ...(body.maxBytes === undefined ? {} : { MAX_BODY_BYTES: String(body.maxBytes) }),
      ...(body.maxValues === undefined ? {} : { MAX_BODY_VALUES: String(body.maxValues) }),
      ...(hub.endpoint === undefined || isSecretHub(options) ? {} : { HF_ENDPOINT: hub.endpoint }),
      ...Object.fromEntries(files),
    },
    labels,
    // No limit while the memory is only assumed, so that a wrong guess does not kill it.
    memoryBytes: figures === 'assumed' ? 0 : Math.round(ramRequired * 1e9),
    device: image.device,
    volume: image.baked ? undefined : volume,
  };
}
