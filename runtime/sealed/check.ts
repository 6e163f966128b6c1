import type { ServerSettings } from '../boot/config.js';
import { totalBytes } from '../core/spec.js';
import type { Logger } from '../log.js';
import { StoreError } from '../store/errors.js';
import { hashOnThread } from './hash-thread.js';
import { alteredWeights, type FileCheck, sealedFileChecks, type SealedModel } from './record.js';

/** State of the check of a sealed image's weights, for /status. */
export interface WeightsStatus {
  checked: 'pending' | 'verified' | 'failed';
  /** `first`: before the model is opened. `background`: while it serves requests. */
  when: 'first' | 'background';
  bytes: number;
  /** Duration; null until it is done. */
  seconds: number | null;
}

/** Larger weights are checked in the background. Takes half a second on a CPU without SHA extensions. */
export const MOST_BYTES_FIRST = 256 * 2 ** 20;

export interface SealedCheckOptions {
  config: Pick<ServerSettings, 'sealedRecord' | 'CHECK_WEIGHTS'>;
  model: Omit<SealedModel, 'dir'>;
  logger: Logger;
  /** Called when loaded weights were altered; must stop the server from answering. */
  onAltered: (error: Error) => void;
}

export interface SealedCheck {
  readonly status: WeightsStatus;
  /**
   * Hashes small weights; large ones are left to `afterLoad`.
   * @param find returns the folder with the weights
   * @returns that folder. @throws StoreError for altered weights, errors of `find`, or the abort reason
   */
  beforeLoad(find: () => Promise<string>, signal: AbortSignal): Promise<string>;
  /** Hashes large weights, once. Never fails; calls `onAltered` for altered ones. */
  afterLoad(): Promise<void>;
}

/** Compares the weights of a sealed image with its record at each start; altered weights are not served. */
export function createSealedCheck({ config, model, logger, onAltered }: SealedCheckOptions): SealedCheck {
  const bytes = totalBytes(model.spec);
  const first =
    config.CHECK_WEIGHTS === 'auto' ? bytes <= MOST_BYTES_FIRST : config.CHECK_WEIGHTS === 'first';
  const status: WeightsStatus = {
    ...{ checked: 'pending', when: first ? 'first' : 'background' },
    ...{ bytes, seconds: null },
  };
  let later: { files: readonly FileCheck[]; signal: AbortSignal } | undefined;

  async function check(files: readonly FileCheck[], signal: AbortSignal): Promise<void> {
    const started = performance.now();
    const problem = await hashOnThread({ files, quietly: !first }, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new StoreError('storage', 'the weights could not be hashed', { cause: error });
    });
    status.seconds = Math.round(performance.now() - started) / 1000;
    if (problem !== undefined) throw alteredWeights(problem);
    status.checked = 'verified';
    logger.info({ bytes, seconds: status.seconds }, 'the weights are those that were sealed');
  }

  return {
    status,
    async beforeLoad(find, signal) {
      status.checked = 'pending';
      try {
        const dir = await find();
        const files = sealedFileChecks(config.sealedRecord, { ...model, dir });
        if (first) await check(files, signal);
        else later = { files, signal };
        return dir;
      } catch (error) {
        if (!signal.aborted) status.checked = 'failed';
        throw error;
      }
    },
    async afterLoad() {
      if (later === undefined) return;
      const { files, signal } = later;
      later = undefined;
      try {
        await check(files, signal);
      } catch (error) {
        if (signal.aborted) return;
        status.checked = 'failed';
        onAltered(error as Error);
      }
    },
  };
}
