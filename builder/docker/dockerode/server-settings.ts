import { once } from 'node:events';
import type Dockerode from 'dockerode';
import type { GpuSettings } from './gpus.js';
import { SECRETS, type Secrets, type ServerOptions } from '../fleet.js';

/** Capabilities that a server needs while it is root: to change owners, and to drop its privileges. */
const CAPABILITIES = ['CHOWN', 'SETUID', 'SETGID'];
const MOST_PROCESSES = 1024;
/** Log rotation; enough for an hour of a model's log. */
const LOG = { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } };

/**
 * Writes the lines `NAME=value` of its input to files of these names and, at an empty line, executes the image's own command.
 * An input that ends before that is of a gateway that has gone. Copying files into a container before its start would put
 * them into its layer, where a commit would include them.
 */
const TAKE_SECRETS = `umask 077
while IFS='=' read -r name value; do
  [ -n "$name" ] || exec "$@" </dev/null
  printf %s "$value" >"${SECRETS}/$name" || exit 1
done
echo 'the gateway that was to start this has gone' >&2
exit 1`;

const WRAPPER = ['/bin/sh', '-c', TAKE_SECRETS, 'sh'];

interface ImageCommand {
  Entrypoint?: string | string[] | undefined;
  Cmd?: string[] | undefined;
}

/** The root file system is read-only; secrets are in memory, and the server writes to volumes only. */
export function creation(
  options: ServerOptions,
  image: ImageCommand,
  gpus: GpuSettings,
): Dockerode.ContainerCreateOptions {
  const { name, network, env, labels, memoryBytes, volume } = options;
  const own = [image.Entrypoint ?? [], image.Cmd ?? []].flat();
  // An image that was committed from such a container has its entry point.
  const command = WRAPPER.every((part, i) => own[i] === part) ? own.slice(WRAPPER.length) : own;
  return {
    ...{ Image: options.image, name, Labels: labels },
    Env: Object.entries(env).map(([key, value]) => `${key}=${value}`),
    ...{ Entrypoint: [...WRAPPER, ...command], Cmd: [] },
    ...{ OpenStdin: true, StdinOnce: true },
    // The gateway probes by itself, without a process for each probe.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      ...{ NetworkMode: network, Memory: memoryBytes, MemorySwap: memoryBytes },
      ...{ CapDrop: ['ALL'], CapAdd: CAPABILITIES, SecurityOpt: ['no-new-privileges'] },
      ...{ PidsLimit: MOST_PROCESSES, LogConfig: LOG, ReadonlyRootfs: true },
      Tmpfs: { [SECRETS]: 'mode=0700,size=64k,noexec,nosuid,nodev' },
      Mounts: [scratch(labels), ...(volume === undefined ? [] : [mountOf(volume)])],
      ...gpus,
    },
  };
}

/** Scratch volume on disk, since prepared weights are written there while sessions open. Removed with the container. */
function scratch(labels: Record<string, string>): Dockerode.MountSettings {
  const VolumeOptions = { NoCopy: false, Labels: labels, DriverConfig: { Name: 'local', Options: {} } };
  return { Type: 'volume', Source: '', Target: '/tmp', VolumeOptions };
}

function mountOf({ name, path, labels }: NonNullable<ServerOptions['volume']>): Dockerode.MountSettings {
  const VolumeOptions = { NoCopy: false, Labels: labels, DriverConfig: { Name: 'local', Options: {} } };
  return { Type: 'volume', Source: name, Target: path, VolumeOptions };
}

/** @param stdin of a container made with `creation`. @throws Error for a value with line breaks */
export async function sendSecrets(stdin: NodeJS.WritableStream, secrets: Secrets): Promise<void> {
  const lines = Object.entries(secrets).map(([name, value]) => {
    if (/[\r\n\0]/.test(value)) throw new Error(`${name} has a line break in it, which no key or token has`);
    return `${name}=${value}\n`;
  });
  stdin.end(`${lines.join('')}\n`);
  await once(stdin, 'finish');
}
