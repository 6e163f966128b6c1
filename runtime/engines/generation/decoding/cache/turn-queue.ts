/** Callers who wait for a part of something that all share, in the order in which they came. */
export interface TurnQueue<R> {
  readonly waiting: number;
  /** At once where nobody waits and there is room. @throws the signal's reason when it aborts before */
  inTurn(amount: number, signal: AbortSignal): Promise<R>;
  /** Admits those who have waited longest, as far as there is room: to be called when something comes back. */
  advance(): void;
}

interface Shared<R> {
  fits(amount: number): boolean;
  take(amount: number): R;
}

interface Waiter {
  amount: number;
  admit(): void;
}

export function createTurnQueue<R>({ fits, take }: Shared<R>): TurnQueue<R> {
  const queue: Waiter[] = [];

  function advance(): void {
    while (queue.length > 0 && fits(queue[0]!.amount)) queue.shift()!.admit();
  }

  return {
    advance,
    get waiting() {
      return queue.length;
    },
    async inTurn(amount, signal) {
      if (queue.length === 0 && fits(amount)) return take(amount);
      return new Promise((resolve, reject) => {
        const onAbort = () => {
          queue.splice(queue.indexOf(waiter), 1);
          reject(signal.reason as Error);
          advance();
        };
        const waiter: Waiter = {
          amount,
          admit() {
            signal.removeEventListener('abort', onAbort);
            resolve(take(amount));
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        queue.push(waiter);
      });
    },
  };
}
