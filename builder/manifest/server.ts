import type { ManifestSettings } from './settings.js';

/** Facts about the server in the image, shared by all formats. */

export const PORT = 8080;
/** User and group id of the server in images. */
export const USER = 1000;
export const MODEL_DIR = '/server/model';
export const SECRETS_DIR = '/run/secrets/slipway';
/** Seconds for running requests after SIGTERM; load balancers need a few more to stop sending new ones. */
const DRAIN_SECONDS = 60;
export const LEAVE_SECONDS = 5;
export const GRACE_SECONDS = LEAVE_SECONDS + DRAIN_SECONDS + 10;
/** Additional seconds for a start that also downloads the weights. */
export const DOWNLOAD_SECONDS = 1800;

/** Variables of the server. They hold no secrets, which are files. */
export function environment(
  { threads, device, env }: ManifestSettings,
  keyFile: string,
): Record<string, string> {
  return {
    KEY_FILE: keyFile,
    PORT: String(PORT),
    // Without a CPU quota the server would use all cores of the node.
    THREADS: String(threads),
    SHUTDOWN_GRACE: String(DRAIN_SECONDS),
    ...(device === 'cuda' ? { DEVICE: 'cuda' } : {}),
    ...env,
  };
}

/** Mebibytes, as container engines and clusters write limits. */
export function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}
