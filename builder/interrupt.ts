import { BuilderError } from './exit.js';

export interface Interruption {
  /** Makes the work end soon, and clean up after itself. */
  stop(): void | Promise<void>;
  /** What the user should know then: what was kept, what to do. */
  note?: string;
}

/**
 * Runs something that SIGINT and SIGTERM end by `stop` instead of at once, so that it can clean up. A second signal ends
 * the process.
 * @throws BuilderError `interrupted` once it has ended after a signal
 */
export async function interruptible<T>({ stop, note }: Interruption, run: () => Promise<T>): Promise<T> {
  let by: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    by ??= signal;
    // What stopping fails on is what the run fails on.
    void Promise.resolve()
      .then(stop)
      .catch(() => undefined);
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const [outcome] = await Promise.allSettled([run()]);
    // What was stopped may end well, with half of its work done.
    if (by !== undefined)
      throw new BuilderError('interrupted', [`stopped by ${by}`, note].filter(Boolean).join('; '));
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
