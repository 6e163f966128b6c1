import type { Response } from 'express';
import { RunError } from '../../runtime/core/errors.js';
import { releaseOnClose } from '../../runtime/wire/lifetime.js';

export interface FeedOptions {
  /** Reads what is sent, as JSON. */
  read(): Promise<string>;
  /** Told why it could not be read. */
  log(line: string): void;
  everyMs?: number;
  /** Most listeners at once. */
  most?: number;
}

/** Sends the state to all listeners as server-sent events. Nothing is read while nobody listens. */
export interface Feed {
  /**
   * Answers with a stream that ends when the listener leaves or is not allowed any more.
   * @throws RunError `overloaded` when there are too many listeners
   */
  add(response: Response, isAllowed: () => boolean): void;
  readonly listeners: number;
  close(): void;
}

const EVERY_MS = 1000;
const MOST = 16;

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
};

export function createFeed({ read, log, everyMs = EVERY_MS, most = MOST }: FeedOptions): Feed {
  const listeners = new Map<Response, () => boolean>();
  let timer: NodeJS.Timeout | undefined;

  async function tell(): Promise<void> {
    const began = performance.now();
    try {
      send(`data: ${await read()}\n\n`);
    } catch (error) {
      log(`the state of the console can't be read: ${(error as Error).message}`);
    }
    // Reading takes a tenth of the time at most, however many models there are.
    schedule(Math.max(everyMs, 9 * (performance.now() - began)));
  }

  function send(event: string): void {
    for (const [response, isAllowed] of listeners) {
      if (!isAllowed()) response.end();
      // A listener that does not read gets a later state instead.
      else if (!response.writableNeedDrain) response.write(event);
    }
  }

  function schedule(afterMs: number): void {
    clearTimeout(timer);
    timer = listeners.size > 0 ? setTimeout(() => void tell(), afterMs).unref() : undefined;
  }

  function remove(response: Response): void {
    listeners.delete(response);
    if (listeners.size === 0) schedule(everyMs);
  }

  return {
    add(response, isAllowed) {
      if (listeners.size >= most)
        throw new RunError('overloaded', `${most} pages of the console are open; close one`);
      response.writeHead(200, HEADERS);
      response.flushHeaders();
      listeners.set(response, isAllowed);
      releaseOnClose(response, () => remove(response));
      void tell();
    },
    get listeners() {
      return listeners.size;
    },
    close() {
      for (const response of listeners.keys()) response.end();
    },
  };
}
