import { setTimeout as delay } from 'node:timers/promises';

export interface RunEvent {
  model: string;
  task: string;
  status: number;
  milliseconds: number;
}

export interface Analytics {
  /** Hands over one event and returns at once. */
  record(event: RunEvent): void;
}

/** Events that may wait, and go together; more are dropped. */
const MAX_WAITING = 1000;

/** Between two requests: however busy a server is, it is one caller among many there. */
const PAUSE_MS = 1000;

/**
 * Sends metadata of finished requests to the operator's endpoint: never bodies, never in anyone's way. One request at
 * a time; what can't be sent is dropped.
 * @param key goes along in Authorization, so that the endpoint knows whose events these are
 */
export function createAnalytics(
  url: string | undefined,
  key: string,
  { pauseMs = PAUSE_MS } = {},
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
      // Best effort by contract: an endpoint that is away must not be noticed.
      await fetch(url!, { method: 'POST', body, headers, signal })
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
