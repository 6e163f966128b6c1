export interface Outbox<T> {
  put(message: T): void;
  /** Sends queued messages at once. */
  flush(): void;
}

/**
 * Sends all messages of one turn of the event loop together, since each send is a system call here and in the receiving
 * process, and the answers of a batch come in the same turn.
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

/** Records messages after the answers of the same turn are sent, so that recording delays no answer. */
export function recordLater<T>(record: (message: T) => void): Outbox<T> {
  return createOutbox((messages) => messages.forEach((message) => record(message)));
}
