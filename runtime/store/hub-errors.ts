import { StoreError } from './errors.js';

export interface HubRequest {
  id: string;
  endpoint: string;
  hasToken: boolean;
}

/** What is wrong with an answer of the hub, or undefined when it is a success. Reads no body. */
export async function responseError(response: Response, asked: HubRequest): Promise<StoreError | undefined> {
  const { status } = response;
  if (response.ok) return pageInsteadOfData(response, asked);
  if (status === 429) return tooMany(response, asked);
  // A hub that moved to another address says what is wrong itself.
  const speaks = response.headers.has('x-error-code');
  if (isElsewhere(response, asked) && status < 500 && !speaks) return refusedElsewhere(response);
  if (status >= 500 || status === 408) {
    return new StoreError('network', `${asked.endpoint} answers ${status}`, {
      remedy: 'try again later',
      ...retryAfter(response),
    });
  }
  return refusal(status, response.headers.get('x-error-code'), asked);
}

/** Large files come from another host, by a signed address that is good for a while. */
function isElsewhere({ redirected, url }: Response, { endpoint }: HubRequest): boolean {
  return redirected && URL.canParse(url) && new URL(url).origin !== new URL(endpoint).origin;
}

/** Worth another try: the hub signs a new address each time. */
function refusedElsewhere({ url, status }: Response): StoreError {
  return new StoreError(
    'network',
    `${new URL(url).host}, where the hub sent us for the file, answers ${status}`,
    {
      remedy: "try again; if it stays, check this machine's clock and the proxy on the way",
      status,
    },
  );
}

/** Names of the errors that the hub puts into X-Error-Code; the status alone does not tell missing from private. */
function refusal(status: number, code: string | null, asked: HubRequest): StoreError {
  const { id, endpoint, hasToken } = asked;
  if (code === 'GatedRepo' || (status === 403 && code === null)) return gated(asked);
  if (code === 'RevisionNotFound') {
    return new StoreError('not_found', `${id} has no such revision at ${endpoint}`, {
      remedy: 'give a branch, tag or commit that the model page lists',
    });
  }
  if (code === 'EntryNotFound') return new StoreError('not_found', `${id} has no such file at ${endpoint}`);
  if (status === 401 && hasToken && code === null) {
    return new StoreError('unauthorized', `${endpoint} does not accept the token`, {
      remedy: 'make a new one in the settings of the account and give it as HF_TOKEN',
    });
  }
  if (status === 401 || status === 404) {
    const remedy = hasToken
      ? 'check the spelling of id and revision, and that the account of HF_TOKEN may read it'
      : 'check the spelling of id and revision; for a private model give HF_TOKEN';
    return new StoreError('not_found', `${id} was not found at ${endpoint}`, { remedy });
  }
  return new StoreError('invalid', `${endpoint} answers ${status} for ${id}`, {
    remedy: 'check that HF_ENDPOINT names a hub',
    status,
  });
}

function gated({ id, endpoint, hasToken }: HubRequest): StoreError {
  const page = `${endpoint}/${id}`;
  const remedy = hasToken
    ? `ask for access at ${page} with the account that HF_TOKEN belongs to, and see that the token may read gated models`
    : `accept its terms at ${page}, then give a token of that account as HF_TOKEN`;
  return new StoreError('gated', `access to ${id} is restricted`, { remedy });
}

function tooMany(response: Response, { endpoint, hasToken }: HubRequest): StoreError {
  const { retryAfterMs } = retryAfter(response);
  const when = retryAfterMs === undefined ? 'later' : `in ${Math.ceil(retryAfterMs / 1000)} s`;
  return new StoreError('rate_limited', `${endpoint} limits the rate of requests`, {
    remedy: hasToken ? `try again ${when}` : `try again ${when}, or give HF_TOKEN for a higher limit`,
    retryAfterMs,
  });
}

/** Portals, proxies and wrong addresses like to answer a web page with status 200; a portal lets through after a while. */
function pageInsteadOfData(response: Response, { endpoint }: HubRequest): StoreError | undefined {
  if (!/^text\/html\b/i.test(response.headers.get('content-type') ?? '')) return undefined;
  return new StoreError('network', `${endpoint} answers with a web page instead of data`, {
    remedy: 'check that HF_ENDPOINT names a hub and that no proxy asks for a login',
  });
}

/** Seconds or a date. */
function retryAfter(response: Response): { retryAfterMs?: number } {
  const value = response.headers.get('retry-after');
  if (!value) return {};
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? { retryAfterMs: ms } : {};
}
