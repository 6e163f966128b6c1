import { join } from 'node:path';
import { DEFAULT_ENDPOINT, type ServerSettings } from './config.js';
import type { ModelSpec } from '../core/spec.js';
import { commitWarning } from './commit-warning.js';
import type { Logger } from '../log.js';
import { outgoingFetch } from '../network/outgoing-fetch.js';
import type { PreparationStatus } from './service.js';
import { DEFAULT_MODEL_DIR } from './settings-schema.js';
import { StoreError } from '../store/errors.js';
import { openLayered } from '../store/layered.js';
import { hubSource } from '../store/hub.js';
import { hubAddress } from '../store/hub-address.js';
import { ensureWeights } from '../store/weights.js';

export interface PrepareWeightsOptions {
  config: ServerSettings;
  spec: ModelSpec;
  /** Updated while preparing. */
  preparation: Pick<PreparationStatus, 'progress' | 'offline'>;
  logger: Logger;
  signal: AbortSignal;
  /** Hash every file, even those that were verified before. */
  rehash?: boolean;
}

/**
 * Finds the model's files, or downloads what is missing. A complete folder needs no request, so a server also starts
 * without a network.
 * @returns the folder with the files
 * @throws Error whose message is for callers and names no paths of this machine; its cause is for the log
 */
export async function prepareWeights(options: PrepareWeightsOptions): Promise<string> {
  try {
    return await findOrDownload(options);
  } catch (error) {
    throw withoutLocations(error as Error, options.config);
  }
}

/** Default values, which may be shown. */
const DEFAULT_LOCATIONS: ReadonlySet<string> = new Set([DEFAULT_ENDPOINT, DEFAULT_MODEL_DIR]);

/** Replaces folders and the hub's address in the message by the names of their settings. */
function withoutLocations(error: Error, config: ServerSettings): Error {
  const message = (['MODEL_DIR', 'HF_HOME', 'HF_ENDPOINT'] as const).reduce((text, name) => {
    const value = name === 'HF_ENDPOINT' ? hubAddress(config[name]).url : config[name];
    return value === undefined || DEFAULT_LOCATIONS.has(value) ? text : text.replaceAll(value, name);
  }, error.message);
  // Expected errors need only their message in the log, others their stack trace.
  return new Error(message, { cause: error instanceof StoreError ? error.message : error });
}

async function findOrDownload({
  config,
  spec,
  preparation,
  logger,
  signal,
  rehash = false,
}: PrepareWeightsOptions): Promise<string> {
  let percent = -1;
  const downloadRoot = config.HF_HOME ?? config.MODEL_DIR;
  const { dir, downloaded } = await ensureWeights({
    spec,
    signal,
    rehash,
    roots: [config.MODEL_DIR, ...(config.HF_HOME ? [config.HF_HOME] : [])],
    downloadRoot,
    manifests: config.MODEL_MANIFESTS,
    source() {
      if (config.HF_HUB_OFFLINE) throw incompleteOffline(spec, config);
      const warning = commitWarning(config, downloadRoot);
      if (warning) logger.warn(warning);
      const hub = hubSource({
        ...{ endpoint: config.HF_ENDPOINT, token: config.HF_TOKEN },
        fetch: outgoingFetch(config.outgoing),
      });
      return spec.base ? openLayered(hub, () => hub, spec.base) : hub;
    },
    onProgress(progress) {
      preparation.progress = progress.doneBytes / progress.totalBytes;
      const now = Math.floor(preparation.progress * 100);
      if (now === percent) return;
      percent = now;
      const { file, fileBytes } = progress;
      logger.info({ file, file_bytes: fileBytes }, `download ${now} %`);
    },
    log: (line) => logger.info(line),
  });
  preparation.progress = undefined;
  if (!downloaded) preparation.offline = true;
  logger.info(downloaded ? 'the download is complete and verified' : 'the weights are complete, no download');
  return dir;
}

function incompleteOffline(spec: ModelSpec, { sealed, MODEL_DIR }: ServerSettings): StoreError {
  if (sealed) {
    const reason = 'this image is sealed, and its weights are not what was sealed';
    return new StoreError('corrupt', reason, { remedy: 'check it with "builder verify", and load it again' });
  }
  const remedy = `put them into ${join(MODEL_DIR, spec.id, spec.commit)}`;
  return new StoreError('not_found', 'the weights are not complete and HF_HUB_OFFLINE is set', { remedy });
}
