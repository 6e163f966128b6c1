import type { ManifestSettings } from './settings.js';

/** What every format says alike of the server in the image. */

export const PORT = 8080;
/** The user that images have for the server, and its group. */
export const USER = 1000;
export const MODEL_DIR = '/server/model';
export const SECRETS_DIR = '/run/secrets/slipway';
/** Seconds that requests under way have after SIGTERM; a load balancer needs some more to look elsewhere. */
const DRAIN_SECONDS = 60;
export const LEAVE_SECONDS = 5;
export const GRACE_SECONDS = LEAVE_SECONDS + DRAIN_SECONDS + 10;
/** That a start may take longer where no step before it fetches the weights. */
export const DOWNLOAD_SECONDS = 1800;

/** Variables of the server. Secrets are files, so none of these is one. */
export function environment(
  { cpus, device, env }: ManifestSettings,
  keyFile: string,
): Record<string, string> {
  return {
    KEY_FILE: keyFile,
    PORT: String(PORT),
    // Without a quota the server would count the cores of the node.
    THREADS: String(Math.ceil(cpus)),
    SHUTDOWN_GRACE: String(DRAIN_SECONDS),
    ...(device === 'cuda' ? { DEVICE: 'cuda' } : {}),
    ...env,
  };
}

/** Mebibytes, as container engines and clusters write limits. */
export function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}
