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

/** Events that may wait; more are dropped. */
const MAX_WAITING = 1000;

/**
 * Sends metadata of finished requests to the operator's endpoint: never bodies, never in anyone's way. One request at
 * a time; what can't be sent is dropped.
 * @param key goes along in Authorization, so that the endpoint knows whose events these are
 */
export function createAnalytics(url: string | undefined, key: string): Analytics {
  if (url === undefined) return { record: () => {} };
  const waiting: RunEvent[] = [];
  let sending = false;

  async function send(): Promise<void> {
    sending = true;
    while (waiting.length > 0) {
      const events = waiting.splice(0, 100);
      const body = JSON.stringify({ events });
      const headers = { 'content-type': 'application/json', authorization: `Key ${key}` };
      const signal = AbortSignal.timeout(5000);
      // Best effort by contract: an endpoint that is away must not be noticed.
      await fetch(url!, { method: 'POST', body, headers, signal })
        .then((response) => response.body?.cancel())
        .catch(() => {});
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

/** The newest version that the update endpoint names, when it is another than ours. Never fails. */
export async function newerVersion(url: string, current: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
    const { version } = (await response.json()) as { version?: unknown };
    return typeof version === 'string' && /^[\w.-]{1,40}$/.test(version) && version !== current
      ? version
      : undefined;
  } catch {
    // Best effort by contract: without an answer there is no notice.
    return undefined;
  }
}
