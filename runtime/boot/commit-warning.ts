import { readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ServerSettings } from './config.js';

/**
 * A warning for the log when weights are downloaded into the container's own layer while the environment holds secrets:
 * `docker commit` would store both. Undefined if one of the two is not the case.
 */
export function commitWarning(
  { RUN_AS, exposed }: Pick<ServerSettings, 'RUN_AS' | 'exposed'>,
  dir: string,
): string | undefined {
  // RUN_AS is set in images only.
  if (RUN_AS === undefined || exposed.length === 0 || !isOwnLayer(dir)) return undefined;
  const names = exposed.join(' and ');
  // Proxies have no variable for a file.
  const files = exposed.filter((name) => !/_PROXY$/i.test(name)).map((name) => `${name}_FILE`);
  const remedy = files.length === 0 ? '' : `give ${files.join(' and ')} instead, or `;
  return (
    `the weights go into this container's own layer: "docker commit" would keep them, and with them the value of ` +
    `${names} from the environment; ${remedy}make a sealed image with "builder snapshot"`
  );
}

function isOwnLayer(dir: string): boolean {
  try {
    return mountPointOf(nearest(dir), readFileSync('/proc/self/mountinfo', 'utf8')) === '/';
  } catch {
    // Not Linux, so not a container.
    return false;
  }
}

/** The real path of a folder, or of its nearest existing parent. */
function nearest(dir: string): string {
  try {
    return realpathSync(dir);
  } catch (error) {
    if (dir === dirname(dir)) throw error;
    return nearest(dirname(dir));
  }
}

/** Mount point of the file system of `path`. @param mountinfo text as in /proc/self/mountinfo */
export function mountPointOf(path: string, mountinfo: string): string {
  const points = mountinfo
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .map((point) => point.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8))))
    .filter((point) => point !== '')
    .filter((point) => point === '/' || path === point || path.startsWith(`${point}/`));
  return points.sort((a, b) => b.length - a.length)[0] ?? '/';
}
