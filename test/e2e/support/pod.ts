import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

interface Mount {
  name: string;
  mountPath: string;
  readOnly?: boolean;
}

interface Container {
  name: string;
  image: string;
  args?: string[];
  env: { name: string; value: string }[];
  resources: { limits: { memory: string } };
  securityContext: { capabilities: { drop: string[] } };
  volumeMounts: Mount[];
}

export interface Pod {
  securityContext: { runAsUser: number; runAsGroup: number; fsGroup: number };
  initContainers?: Container[];
  containers: [Container];
  volumes: { name: string; emptyDir?: object; secret?: { defaultMode: number } }[];
}

/** Makes a pod's volumes as a node does: root's, of the pod's group, which may write into empty ones. */
export async function makeVolumes(pod: Pod, folder: string, secrets: Record<string, string>): Promise<void> {
  const { fsGroup } = pod.securityContext;
  for (const { name, secret } of pod.volumes) {
    const place = path.join(folder, name);
    await mkdir(place, { recursive: true });
    for (const [file, text] of Object.entries(secret ? secrets : {})) {
      await writeFile(path.join(place, file), text);
      await chmod(path.join(place, file), secret!.defaultMode);
      await chown(path.join(place, file), 0, fsGroup);
    }
    await chown(place, 0, fsGroup);
    await chmod(place, 0o2775);
  }
}

/** A container of a pod as arguments of `docker run`: the same user, volumes, limits and confinement. */
export function dockerArguments(pod: Pod, container: Container, folder: string): string[] {
  const { runAsUser, runAsGroup, fsGroup } = pod.securityContext;
  const { env, volumeMounts, resources, securityContext, image, args = [] } = container;
  const memory = resources.limits.memory.replace(/Mi$/, 'm');
  return [
    ...['--user', `${runAsUser}:${runAsGroup}`, '--group-add', String(fsGroup)],
    ...['--read-only', '--security-opt', 'no-new-privileges'],
    ...securityContext.capabilities.drop.flatMap((name) => ['--cap-drop', name]),
    ...['--memory', memory, '--memory-swap', memory],
    ...env.flatMap(({ name, value }) => ['--env', `${name}=${value}`]),
    ...volumeMounts.flatMap(({ name, mountPath, readOnly }) => [
      '--volume',
      `${path.join(folder, name)}:${mountPath}${readOnly ? ':ro' : ''}`,
    ]),
    ...[image, ...args],
  ];
}
