import { once } from 'node:events';
import type Dockerode from 'dockerode';
import { SECRETS, type ServerOptions } from '../fleet.js';

/** What a server needs while it is root: to own its folder and to become somebody else. */
const CAPABILITIES = ['CHOWN', 'SETUID', 'SETGID'];
const MOST_PROCESSES = 1024;
/** More than models log in an hour; older lines go. */
const LOG = { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } };

/**
 * Writes the lines `NAME=value` of its input to files of these names, then becomes the image's own command. Files of a
 * container that doesn't run yet can only be put into its own layer, where a commit would find them.
 */
const TAKE_SECRETS = [
  'umask 077',
  `while IFS='=' read -r name value; do printf %s "$value" >"${SECRETS}/$name" || exit 1; done`,
  'exec "$@" </dev/null',
].join('; ');

interface ImageCommand {
  Entrypoint?: string | string[] | undefined;
  Cmd?: string[] | undefined;
}

/** The file system of the image is read-only: secrets lie in memory, and what the server writes in volumes. */
export function creation(options: ServerOptions, image: ImageCommand): Dockerode.ContainerCreateOptions {
  const { name, network, env, labels, memoryBytes, gpus, volume } = options;
  const command = [image.Entrypoint ?? [], image.Cmd ?? []].flat();
  return {
    ...{ Image: options.image, name, Labels: labels },
    Env: Object.entries(env).map(([key, value]) => `${key}=${value}`),
    ...{ Entrypoint: ['/bin/sh', '-c', TAKE_SECRETS, 'sh', ...command], Cmd: [] },
    ...{ OpenStdin: true, StdinOnce: true },
    // A gateway asks by itself, and without a process each time.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      ...{ NetworkMode: network, Memory: memoryBytes, MemorySwap: memoryBytes },
      ...{ CapDrop: ['ALL'], CapAdd: CAPABILITIES, SecurityOpt: ['no-new-privileges'] },
      ...{ PidsLimit: MOST_PROCESSES, LogConfig: LOG, ReadonlyRootfs: true },
      Tmpfs: { [SECRETS]: 'mode=0700,size=64k,noexec,nosuid,nodev' },
      Mounts: [scratch(labels), ...(volume === undefined ? [] : [mountOf(volume)])],
      ...(gpus ? { DeviceRequests: [{ Driver: 'nvidia', Count: -1, Capabilities: [['gpu']] }] } : {}),
    },
  };
}

/** On a disk, not in memory: prepared weights lie there while sessions open. It goes with the container. */
function scratch(labels: Record<string, string>): Dockerode.MountSettings {
  const VolumeOptions = { NoCopy: false, Labels: labels, DriverConfig: { Name: 'local', Options: {} } };
  return { Type: 'volume', Source: '', Target: '/tmp', VolumeOptions };
}

function mountOf({ name, path, labels }: NonNullable<ServerOptions['volume']>): Dockerode.MountSettings {
  const VolumeOptions = { NoCopy: false, Labels: labels, DriverConfig: { Name: 'local', Options: {} } };
  return { Type: 'volume', Source: name, Target: path, VolumeOptions };
}

/** @param stdin of a container that `creation` describes. @throws Error for a value that is no single line */
export async function sendSecrets(
  stdin: NodeJS.WritableStream,
  secrets: ServerOptions['secrets'],
): Promise<void> {
  const lines = Object.entries(secrets).map(([name, value]) => {
    if (/[\r\n\0]/.test(value)) throw new Error(`${name} has a line break in it, which no key or token has`);
    return `${name}=${value}\n`;
  });
  stdin.end(lines.join(''));
  await once(stdin, 'finish');
}
