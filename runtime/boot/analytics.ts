import { setTimeout as delay } from 'node:timers/promises';

export interface RunEvent {
  model: string;
  task: string;
  status: number;
  milliseconds: number;
}

export interface Analytics {
  /** Queues one event and returns at once. */
  record(event: RunEvent): void;
}

/** Most queued events, which are sent in one request; further ones are dropped. */
const MAX_WAITING = 1000;

/** Pause between two requests, to limit the load of the endpoint. */
const PAUSE_MS = 1000;

/**
 * Sends metadata of finished requests, never bodies, to the operator's endpoint, one request at a time. Events that can't
 * be sent are dropped.
 * @param key sent in Authorization, so that the endpoint can identify the sender
 */
export function createAnalytics(
  url: string | undefined,
  key: string,
  { pauseMs = PAUSE_MS, fetch: post = fetch } = {},
): Analytics {
  if (url === undefined) return { record: () => {} };
  const waiting: RunEvent[] = [];
  let sending = false;

  async function send(): Promise<void> {
    sending = true;
    while (waiting.length > 0) {
      const events = waiting.splice(0);
      const body = JSON.stringify({ events });
      const headers = { 'content-type': 'application/json', authorization: `Key ${key}` };
      const signal = AbortSignal.timeout(5000);
      // Best effort: errors of the endpoint are ignored.
      await post(url!, { method: 'POST', body, headers, signal })
        .then((response) => response.body?.cancel())
        .catch(() => {});
      await delay(pauseMs, undefined, { ref: false });
    }
    sending = false;
  }

  return {
    record(event) {
      if (waiting.length >= MAX_WAITING) return;
      waiting.push(event);
      if (!sending) void send();
    },
  };
}
