import { figureLabels, LABEL } from '../images/labels.js';
import { labelValue } from './names.js';
import {
  DOWNLOAD_SECONDS,
  environment,
  GRACE_SECONDS,
  LEAVE_SECONDS,
  mebibytes,
  MODEL_DIR,
  PORT,
  SECRETS_DIR,
  USER,
} from './server.js';
import type { ManifestSettings } from './settings.js';

export type JsonObject = Record<string, unknown>;

const PORT_NAME = 'http1';

export function selector({ name }: ManifestSettings): Record<string, string> {
  return { 'app.kubernetes.io/name': name };
}

/** Labels by which the gateway finds the model. */
export function labels(settings: ManifestSettings): Record<string, string> {
  return {
    ...selector(settings),
    'app.kubernetes.io/part-of': 'slipway',
    [LABEL.model]: labelValue(settings.modelId),
  };
}

/** Values that are not valid as labels: the exact id and the figures. */
export function annotations({ modelId, task, commit, figures }: ManifestSettings): Record<string, string> {
  return {
    [LABEL.model]: modelId,
    [LABEL.task]: task,
    ...(commit === undefined ? {} : { [LABEL.commit]: commit }),
    ...(figures ? Object.fromEntries(figureLabels(figures)) : {}),
  };
}

export function metadata(settings: ManifestSettings, more: JsonObject = {}): JsonObject {
  const { name, namespace } = settings;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: labels(settings),
    annotations: annotations(settings),
    ...more,
  };
}

/** Requirements of the restricted pod security profile, and a read-only root file system. */
const CONFINED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
const IDENTITY = {
  runAsNonRoot: true,
  runAsUser: USER,
  runAsGroup: USER,
  seccompProfile: { type: 'RuntimeDefault' },
};

/** A pod that conforms to the restricted pod security profile. */
export function podSpec(settings: ManifestSettings): JsonObject {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // Gives volumes to the group; otherwise they belong to root.
    securityContext: { ...IDENTITY, fsGroup: USER, fsGroupChangePolicy: 'OnRootMismatch' },
    terminationGracePeriodSeconds: GRACE_SECONDS,
    ...(settings.baked ? {} : { initContainers: [fetchContainer(settings)] }),
    containers: [
      {
        ...serverContainer(settings),
        ...probes(settings.startSeconds, { port: PORT_NAME }),
        env: variables(environment(settings, `${SECRETS_DIR}/key`)),
        securityContext: CONFINED,
        // Keeps answering until load balancers have removed the pod.
        lifecycle: { preStop: { sleep: { seconds: LEAVE_SECONDS } } },
      },
    ],
    volumes: volumes(settings, GROUP_READABLE),
  };
}

/** A pod spec that Knative accepts: one container and no pod-level settings. */
export function knativePodSpec(settings: ManifestSettings): JsonObject {
  const { PORT: _given, ...env } = environment(settings, `${SECRETS_DIR}/key`);
  if (!settings.baked && settings.hfToken) env['HF_TOKEN_FILE'] = `${SECRETS_DIR}/hf-token`;
  // The download is part of the start.
  const startSeconds = settings.startSeconds + (settings.baked ? 0 : DOWNLOAD_SECONDS);
  return {
    enableServiceLinks: false,
    automountServiceAccountToken: false,
    containers: [
      {
        ...serverContainer(settings),
        ...probes(startSeconds, {}),
        env: variables(env),
        securityContext: { ...CONFINED, ...IDENTITY },
      },
    ],
    // The pod has no group here and files belong to root, so they must be readable for all.
    volumes: volumes(settings, READABLE),
  };
}

function serverContainer(settings: ManifestSettings): JsonObject {
  return {
    name: 'server',
    image: settings.image,
    imagePullPolicy: 'IfNotPresent',
    ports: [{ name: PORT_NAME, containerPort: PORT }],
    resources: resources(settings),
    volumeMounts: mounts(settings),
  };
}

/** Downloads and verifies the weights if needed. Needs no KEY. */
function fetchContainer(settings: ManifestSettings): JsonObject {
  const { image, env, hfToken } = settings;
  const given = hfToken ? { ...env, HF_TOKEN_FILE: `${SECRETS_DIR}/hf-token` } : env;
  return {
    name: 'weights',
    image,
    imagePullPolicy: 'IfNotPresent',
    args: ['fetch'],
    env: variables(given),
    resources: resources(settings),
    securityContext: CONFINED,
    volumeMounts: mounts(settings).filter(({ name }) => hfToken || name !== 'secrets'),
  };
}

function variables(env: Record<string, string>): { name: string; value: string }[] {
  // The cluster would replace $(NAME).
  return Object.entries(env).map(([name, value]) => ({ name, value: value.replaceAll('$(', '$$(') }));
}

/** CPU is only requested, so that idle CPU can be used; memory is limited. */
function resources({ cpus, memoryBytes, device }: ManifestSettings): JsonObject {
  const memory = memoryBytes === undefined ? {} : { memory: `${mebibytes(memoryBytes)}Mi` };
  const gpu = device === 'cpu' ? {} : { 'nvidia.com/gpu': '1' };
  return { requests: { cpu: String(cpus), ...memory, ...gpu }, limits: { ...memory, ...gpu } };
}

const PERIOD_SECONDS = 5;
/** A caller may wait for the start, and a small model is ready after one. */
const START_PERIOD_SECONDS = 1;

function probes(startSeconds: number, port: { port?: string }): JsonObject {
  const get = (path: string) => ({ httpGet: { path, ...port }, timeoutSeconds: 4 });
  return {
    startupProbe: {
      ...get('/health'),
      periodSeconds: START_PERIOD_SECONDS,
      failureThreshold: Math.ceil(startSeconds / START_PERIOD_SECONDS),
    },
    readinessProbe: { ...get('/health'), periodSeconds: PERIOD_SECONDS, failureThreshold: 2 },
    // Independent of the model: a slow load is no reason for a restart.
    livenessProbe: { ...get('/livez'), periodSeconds: 10, failureThreshold: 3 },
  };
}

function mounts({ baked }: ManifestSettings): { name: string; mountPath: string; readOnly?: true }[] {
  return [
    { name: 'tmp', mountPath: '/tmp' },
    { name: 'secrets', mountPath: SECRETS_DIR, readOnly: true },
    ...(baked ? [] : [{ name: 'model', mountPath: MODEL_DIR }]),
  ];
}

const GROUP_READABLE = 0o440;
const READABLE = 0o444;

function volumes({ baked, claim, secret, hfToken }: ManifestSettings, defaultMode: number): JsonObject[] {
  const files = hfToken ? ['key', 'hf-token'] : ['key'];
  const items = files.map((key) => ({ key, path: key }));
  const source = claim === undefined ? { emptyDir: {} } : { persistentVolumeClaim: { claimName: claim } };
  return [
    { name: 'tmp', emptyDir: {} },
    { name: 'secrets', secret: { secretName: secret, items, defaultMode } },
    ...(baked ? [] : [{ name: 'model', ...source }]),
  ];
}
