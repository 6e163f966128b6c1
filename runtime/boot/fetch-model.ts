import { constants } from 'node:os';
import type { ServerSettings } from './config.js';
import { createLogger } from '../log.js';
import { prepareWeights } from './prepare-weights.js';
import { dropPrivileges } from './privileges.js';
import { parseSpec } from '../store/spec-file.js';
import { readSpecText } from '../store/spec-text.js';

/**
 * `docker run <image> fetch`, for init containers: downloads and verifies the model's files, then exits with 0, or with 1
 * and the reason on stderr. Complete files need no request.
 * @param verify hash all files, even those that were verified before; always done in a sealed image
 */
export async function fetchModel(config: ServerSettings, { verify }: { verify: boolean }): Promise<void> {
  const logger = createLogger(config.LOG_FORMAT, config.LOG_LEVEL);
  const dropped = dropPrivileges(config.RUN_AS, config.MODEL_DIR);
  if (dropped) logger.info(dropped);
  const spec = parseSpec(readSpecText(config.MODEL_SPEC));
  const stop = stopOnSignals();
  const preparation = { progress: undefined, offline: config.HF_HUB_OFFLINE };
  const rehash = verify || config.sealed;
  try {
    const dir = await prepareWeights({ config, spec, preparation, logger, signal: stop.signal, rehash });
    logger.info({ dir }, `${spec.id} at ${spec.commit} is complete`);
  } catch (error) {
    const { message, cause } = error as Error;
    // Only the cause of an unexpected error is an Error.
    const bug = cause instanceof Error && !stop.signal.aborted;
    const text = typeof cause === 'string' ? cause : bug ? String(cause.stack) : message;
    process.stderr.write(`slipway: ${text}\n`);
    process.exitCode = stop.exitCode();
  }
}

/** A stopped download releases its lock; the exit code is then that of the signal. */
function stopOnSignals() {
  const controller = new AbortController();
  let exitCode = 1;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      exitCode = 128 + constants.signals[signal];
      controller.abort(new Error(`stopped by ${signal}; what has been downloaded is kept`));
    });
  }
  return { signal: controller.signal, exitCode: () => exitCode };
}
