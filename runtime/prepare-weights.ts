import { join } from 'node:path';
import type { Config } from './config.js';
import type { ModelSpec } from './core/spec.js';
import type { Logger } from './log.js';
import type { Preparation } from './service.js';
import { hubSource } from './store/hub.js';
import { ensureWeights } from './store/weights.js';

export interface PrepareOptions {
  config: Config;
  spec: ModelSpec;
  /** Progress is written here. */
  preparation: Preparation;
  logger: Logger;
}

/**
 * Finds the model's files, or downloads what is missing. A complete folder costs no request at all, so a server
 * without a network starts as fast as one with it.
 * @returns the folder that holds the files
 */
export async function prepareWeights({ config, spec, preparation, logger }: PrepareOptions): Promise<string> {
  let percent = -1;
  const { dir, downloaded } = await ensureWeights({
    spec,
    roots: [config.MODEL_DIR, ...(config.HF_HOME ? [config.HF_HOME] : [])],
    downloadRoot: config.HF_HOME ?? config.MODEL_DIR,
    source() {
      if (config.HF_HUB_OFFLINE) throw new Error(offlineMessage(spec, config.MODEL_DIR));
      return hubSource({ endpoint: config.HF_ENDPOINT, token: config.HF_TOKEN });
    },
    onProgress({ doneBytes, totalBytes }) {
      preparation.progress = doneBytes / totalBytes;
      const now = Math.floor(preparation.progress * 100);
      if (now === percent) return;
      percent = now;
      logger.info(`download ${now} %`);
    },
    log: (line) => logger.info(line),
  });
  preparation.progress = undefined;
  if (!downloaded) preparation.offline = true;
  logger.info(downloaded ? 'the download is complete and verified' : 'the weights are complete, no download');
  return dir;
}

function offlineMessage(spec: ModelSpec, dir: string): string {
  return `the weights are not complete and HF_HUB_OFFLINE is set; put them into ${join(dir, spec.id, spec.commit)}`;
}
