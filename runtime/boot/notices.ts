const PATIENCE_MS = 5000;

/** Plausible version numbers. */
const VERSION = /^[\w.-]{1,40}$/;

export interface Asking {
  /** Sent in Authorization. */
  key: string;
  fetch?: typeof fetch;
}

/** The version from the update endpoint, if it is newer. Never fails. */
export async function findNewerVersion(
  url: string,
  current: string,
  { key, fetch: send = fetch }: Asking,
): Promise<string | undefined> {
  const answer = await askOnce(send, url, { headers: { authorization: `Key ${key}` } });
  const version = fieldOf(answer?.body, 'version') ?? fieldOf(fieldOf(answer?.body, 'output'), 'version');
  if (typeof version !== 'string' || !VERSION.test(version)) return undefined;
  return version.localeCompare(current, 'en', { numeric: true }) > 0 ? version : undefined;
}

/** The endpoint's answer about our key; undefined if there is none. Never fails. */
export async function checkKeyStatus(
  url: string,
  { key, fetch: send = fetch }: Asking,
  about: { model: string; task: string; version: string },
): Promise<'accepted' | 'refused' | undefined> {
  const headers = { 'content-type': 'application/json', authorization: `Key ${key}` };
  const answer = await askOnce(send, url, { method: 'POST', headers, body: JSON.stringify(about) });
  if (answer?.status === 401 || answer?.status === 403) return 'refused';
  return answer?.status === 200 ? 'accepted' : undefined;
}

/** Best effort: errors and invalid answers of the endpoint are ignored. */
async function askOnce(
  send: typeof fetch,
  url: string,
  init: RequestInit,
): Promise<{ status: number; body: unknown } | undefined> {
  try {
    const response = await send(url, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
    return { status: response.status, body: await response.json() };
  } catch {
    return undefined;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
