import { BuilderError } from './exit.js';

/**
 * Runs something that SIGINT and SIGTERM end by `stop` instead of at once, so that it can clean up.
 * @throws BuilderError `interrupted` once it has ended after a signal
 */
export async function interruptible<T>(stop: () => Promise<void>, run: () => Promise<T>): Promise<T> {
  let by: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    by ??= signal;
    // What stopping fails on is what the run fails on.
    stop().catch(() => undefined);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    const [outcome] = await Promise.allSettled([run()]);
    // What was stopped may end well, with half of its work done.
    if (by !== undefined) throw new BuilderError('interrupted', `stopped by ${by}`);
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
