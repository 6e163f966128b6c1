import { DOWNLOAD_SECONDS, environment, GRACE_SECONDS, mebibytes, MODEL_DIR, PORT, USER } from './server.js';
import type { ManifestSettings } from './settings.js';

/** A unit for podman's generator, for /etc/containers/systemd or, without root, ~/.config/containers/systemd. */
export function quadletUnit(settings: ManifestSettings): string {
  const { name, modelId, image, baked, startSeconds } = settings;
  const seconds = startSeconds + (baked ? 0 : DOWNLOAD_SECONDS);
  return [
    '[Unit]',
    `Description=${escapeUnitValue(modelId)}`,
    'Wants=network-online.target',
    'After=network-online.target',
    '',
    '[Container]',
    `Image=${image}`,
    `ContainerName=${name}`,
    ...container(settings),
    '',
    '[Service]',
    'Restart=always',
    `TimeoutStartSec=${seconds}`,
    `TimeoutStopSec=${GRACE_SECONDS + 10}`,
    '',
    '[Install]',
    'WantedBy=multi-user.target default.target',
  ].join('\n');
}

function container(settings: ManifestSettings): string[] {
  const { name, baked, secret, hfToken, device, publish, memoryBytes, startSeconds } = settings;
  const env = {
    ...environment(settings, `/run/secrets/${secret}-key`),
    ...(hfToken ? { HF_TOKEN_FILE: `/run/secrets/${secret}-hf-token` } : {}),
  };
  const secrets = hfToken ? ['key', 'hf-token'] : ['key'];
  const memory = memoryBytes === undefined ? [] : [`--memory=${mebibytes(memoryBytes)}m`];
  return [
    `User=${USER}`,
    `Group=${USER}`,
    'ReadOnly=true',
    'Tmpfs=/tmp',
    'DropCapability=all',
    'NoNewPrivileges=true',
    ...Object.entries(env).map(([key, value]) => `Environment="${key}=${escapeUnitValue(value)}"`),
    ...secrets.map((file) => `Secret=${secret}-${file},uid=${USER},gid=${USER},mode=0400`),
    // U: changes the owner of the volume to the user.
    ...(baked ? [] : [`Volume=${name}-model:${MODEL_DIR}:U`]),
    ...(publish === undefined ? [] : [`PublishPort=${publish}:${PORT}`]),
    ...gpuLines(device),
    'HealthCmd=["node","/server/healthcheck.mjs"]',
    'HealthInterval=15s',
    `HealthStartPeriod=${startSeconds}s`,
    `PodmanArgs=${[...memory, `--stop-timeout=${GRACE_SECONDS}`].join(' ')}`,
  ];
}

/** Images for Vulkan open the kernel's files of GPUs; `keep-groups` keeps the group that may do so. */
function gpuLines(device: ManifestSettings['device']): string[] {
  if (device === 'cuda') return ['AddDevice=nvidia.com/gpu=all'];
  return device === 'vulkan' ? ['AddDevice=/dev/dri', 'GroupAdd=keep-groups'] : [];
}

/** Escapes `%`, backslashes and quotes for systemd. */
function escapeUnitValue(text: string): string {
  return text.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%');
}
