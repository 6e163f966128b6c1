export interface Outbox<T> {
  put(message: T): void;
  /** Sends at once what waits. */
  flush(): void;
}

/**
 * Sends what is said within one turn of the event loop together: each sending is a system call, for messages also in
 * the process that reads it, and the answers of a batch come all at once.
 */
export function createOutbox<T>(send: (messages: T[]) => void): Outbox<T> {
  let waiting: T[] = [];
  const flush = () => {
    if (waiting.length === 0) return;
    const messages = waiting;
    waiting = [];
    send(messages);
  };
  return {
    flush,
    put(message) {
      if (waiting.push(message) === 1) setImmediate(flush);
    },
  };
}

/** Records what is told of answers after those that go out in the same turn: nobody waits for records. */
export function recordLater<T>(record: (message: T) => void): Outbox<T> {
  return createOutbox((messages) => messages.forEach((message) => record(message)));
}
