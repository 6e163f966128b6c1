import { useEffect, useState } from 'preact/hooks';
import type { ConsoleState } from '../state.js';

/** Only this page sends the header: no other may without being allowed to. */
const HEADERS = { 'X-Slipway-Console': '1', 'Content-Type': 'application/json' };

/** Asks the console. @throws Error with what it says */
export async function ask<T>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(path, {
    ...{ method, headers: HEADERS, credentials: 'same-origin' },
    ...(body && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Error('the gateway does not answer');
  });
  const answer = (await response.json().catch(() => null)) as { error: string | null; output: T } | null;
  if (!answer) throw new Error(`the answer is no JSON (status ${response.status})`);
  if (answer.error !== null) throw new Error(answer.error);
  return answer.output;
}

export interface Feed {
  state: ConsoleState | undefined;
  /** States come; false while the connection is lost. */
  isLive: boolean;
}

/** The state as it changes. @param onEnded called when the session is over */
export function useFeed(onEnded: () => void): Feed {
  const [state, setState] = useState<ConsoleState>();
  const [isLive, setLive] = useState(true);
  useEffect(() => {
    const source = new EventSource('api/events');
    source.addEventListener('message', ({ data }) => {
      setState(JSON.parse(data as string) as ConsoleState);
      setLive(true);
    });
    source.addEventListener('error', () => {
      setLive(false);
      // The browser tries again by itself, but not after a refusal.
      if (source.readyState === EventSource.CLOSED) onEnded();
    });
    return () => source.close();
  }, []);
  return { state, isLive };
}
