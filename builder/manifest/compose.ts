import type { JsonObject } from './pod.js';
import { environment, GRACE_SECONDS, mebibytes, MODEL_DIR, PORT, USER } from './server.js';
import type { ManifestSettings } from './settings.js';

/** A project of one service, and one that fetches the weights first if the image lacks them. */
export function composeDocument(settings: ManifestSettings): JsonObject {
  const { baked, hfToken } = settings;
  const files = hfToken ? ['key', 'hf-token'] : ['key'];
  return {
    services: {
      ...(baked ? {} : { weights: weightsService(settings) }),
      server: serverService(settings),
    },
    secrets: Object.fromEntries(files.map((file) => [file, { file: `./${file}` }])),
    ...(baked ? {} : { volumes: { model: {} } }),
  };
}

function serverService(settings: ManifestSettings): JsonObject {
  const { baked, device, replicas, publish, startSeconds } = settings;
  return {
    ...confined(settings),
    user: `${USER}:${USER}`,
    environment: escapeVariables(environment(settings, '/run/secrets/key')),
    secrets: ['key'],
    expose: [String(PORT)],
    ...(publish === undefined ? {} : { ports: [`${publish}:${PORT}`] }),
    ...(baked
      ? {}
      : {
          volumes: [`model:${MODEL_DIR}`],
          depends_on: { weights: { condition: 'service_completed_successfully' } },
        }),
    healthcheck: {
      test: ['CMD', 'node', '/server/healthcheck.mjs'],
      interval: '15s',
      timeout: '5s',
      retries: 3,
      start_period: `${startSeconds}s`,
    },
    stop_grace_period: `${GRACE_SECONDS}s`,
    restart: 'unless-stopped',
    ...(device === 'vulkan' ? VULKAN : {}),
    ...deploy({ device, replicas }),
  };
}

const RENDER_GROUP = 'give the number that "stat -c %g /dev/dri/renderD128" prints';

/** The kernel's files of GPUs, and the group that may open them, whose number differs between hosts. */
const VULKAN: JsonObject = {
  devices: ['/dev/dri'],
  group_add: [`\${RENDER_GROUP:?${RENDER_GROUP}}`],
};

function deploy({ device, replicas }: Pick<ManifestSettings, 'device' | 'replicas'>): JsonObject {
  const devices = [{ driver: 'nvidia', count: 1, capabilities: ['gpu'] }];
  const gpu = device === 'cuda' ? { resources: { reservations: { devices } } } : {};
  const settings = { ...(replicas > 1 ? { replicas } : {}), ...gpu };
  return Object.keys(settings).length === 0 ? {} : { deploy: settings };
}

/** Starts as root, because new volumes belong to root; changes their owner and then runs as that user. */
function weightsService(settings: ManifestSettings): JsonObject {
  const { env, hfToken } = settings;
  return {
    ...confined(settings),
    command: ['fetch'],
    cap_add: ['CHOWN', 'SETUID', 'SETGID'],
    environment: escapeVariables(hfToken ? { ...env, HF_TOKEN_FILE: '/run/secrets/hf-token' } : env),
    ...(hfToken ? { secrets: ['hf-token'] } : {}),
    volumes: [`model:${MODEL_DIR}`],
    // The other service waits for its end, not for its health.
    healthcheck: { disable: true },
    restart: 'on-failure',
  };
}

function confined({ image, memoryBytes }: ManifestSettings): JsonObject {
  return {
    image,
    read_only: true,
    tmpfs: ['/tmp'],
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    ...(memoryBytes === undefined ? {} : { mem_limit: `${mebibytes(memoryBytes)}m` }),
  };
}

/** Compose would replace `$NAME` by variables of its user. */
function escapeVariables(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.replaceAll('$', '$$$$')]),
  );
}
