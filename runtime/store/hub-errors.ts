import { StoreError } from './errors.js';

export interface HubRequest {
  id: string;
  endpoint: string;
  hasToken: boolean;
}

/** The error that an answer of the hub stands for; undefined for a success. Does not read the body. */
export async function responseError(
  response: Response,
  request: HubRequest,
): Promise<StoreError | undefined> {
  const { status } = response;
  if (response.ok) return pageInsteadOfData(response, request);
  if (status === 429) return rateLimited(response, request);
  // The header shows that the other host is a hub, too.
  const isHub = response.headers.has('x-error-code');
  if (isOtherHost(response, request) && status < 500 && !isHub) return refusedByOtherHost(response);
  if (status >= 500 || status === 408) {
    return new StoreError('network', `${request.endpoint} answers ${status}`, {
      remedy: 'try again later',
      ...retryAfter(response),
    });
  }
  return refusal(status, response.headers.get('x-error-code'), request);
}

/** Large files come from another host, by a signed URL that expires. */
function isOtherHost({ redirected, url }: Response, { endpoint }: HubRequest): boolean {
  return redirected && URL.canParse(url) && new URL(url).origin !== new URL(endpoint).origin;
}

/** Retryable, since the hub signs a new URL each time. */
function refusedByOtherHost({ url, status }: Response): StoreError {
  return new StoreError(
    'network',
    `${new URL(url).host}, where the hub sent us for the file, answers ${status}`,
    {
      remedy: "try again; if it stays, check this machine's clock and the proxy on the way",
      status,
    },
  );
}

/** Uses the hub's X-Error-Code, since the status alone does not distinguish missing from private. */
function refusal(status: number, code: string | null, request: HubRequest): StoreError {
  const { id, endpoint, hasToken } = request;
  if (code === 'GatedRepo' || (status === 403 && code === null)) return gated(request);
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

function rateLimited(response: Response, { endpoint, hasToken }: HubRequest): StoreError {
  const { retryAfterMs } = retryAfter(response);
  const when = retryAfterMs === undefined ? 'later' : `in ${Math.ceil(retryAfterMs / 1000)} s`;
  return new StoreError('rate_limited', `${endpoint} limits the rate of requests`, {
    remedy: hasToken ? `try again ${when}` : `try again ${when}, or give HF_TOKEN for a higher limit`,
    retryAfterMs,
  });
}

/** Captive portals, proxies and wrong addresses often answer 200 with a web page. Retryable, since portals may pass. */
function pageInsteadOfData(response: Response, { endpoint }: HubRequest): StoreError | undefined {
  if (!/^text\/html\b/i.test(response.headers.get('content-type') ?? '')) return undefined;
  return new StoreError('network', `${endpoint} answers with a web page instead of data`, {
    remedy: 'check that HF_ENDPOINT names a hub and that no proxy asks for a login',
  });
}

/** The header is in seconds or a date. */
function retryAfter(response: Response): { retryAfterMs?: number } {
  const value = response.headers.get('retry-after');
  if (!value) return {};
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? { retryAfterMs: ms } : {};
}
