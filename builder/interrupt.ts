import { BuilderError } from './exit.js';

export interface Interruption {
  /** Asks the work to end soon and clean up. */
  stop(): void | Promise<void>;
  /** Added to the message: what was kept, what to do. */
  note?: string;
}

/**
 * Runs work that SIGINT and SIGTERM end by calling `stop`, so that it can clean up. A second signal ends the process.
 * @throws BuilderError `interrupted` when the work has ended after a signal
 */
export async function interruptible<T>({ stop, note }: Interruption, run: () => Promise<T>): Promise<T> {
  let receivedSignal: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    receivedSignal ??= signal;
    // Errors of stop() also make the run fail, so they are ignored here.
    void Promise.resolve()
      .then(stop)
      .catch(() => undefined);
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const [outcome] = await Promise.allSettled([run()]);
    // Stopped work may resolve although it is incomplete.
    if (receivedSignal !== undefined)
      throw new BuilderError(
        'interrupted',
        [`stopped by ${receivedSignal}`, note].filter(Boolean).join('; '),
      );
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
