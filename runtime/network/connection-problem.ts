const UNTRUSTED = new Set([
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_GET_ISSUER_CERT'],
  ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CERT_UNTRUSTED'],
]);

/** The proxy of the settings refused to connect. */
export class ProxyRefused extends Error {
  override name = 'ProxyRefused';
  constructor(readonly status: number) {
    super(`the proxy answers ${status}`);
  }
}

export interface ConnectionProblem {
  /** Short and without addresses, for the middle of a message. */
  fact: string;
  remedy: string;
}

/** What is known about a failed connection from the error and its causes: an unknown authority, or a proxy that refuses. */
export function connectionProblem(error: unknown): ConnectionProblem | undefined {
  const { code, cause, message = '' } = (error ?? {}) as { code?: string; cause?: unknown; message?: string };
  if (code !== undefined && UNTRUSTED.has(code)) {
    return {
      fact: `its certificate is of an authority that is not trusted here, ${code}`,
      remedy:
        'name the PEM file of that authority in SSL_CERT_FILE (or REQUESTS_CA_BUNDLE, NODE_EXTRA_CA_CERTS); in a container, mount it',
    };
  }
  const status = error instanceof ProxyRefused ? error.status : proxyStatusOf(message);
  if (status === undefined) return cause === undefined ? undefined : connectionProblem(cause);
  const fact = `the proxy answers ${status}`;
  if (status === 407)
    return { fact, remedy: 'give its user and password in HTTPS_PROXY (http://user:password@host:port)' };
  return { fact, remedy: 'check HTTPS_PROXY, or name the host in NO_PROXY' };
}

/** undici tells the status of a refused tunnel in its message only. */
function proxyStatusOf(message: string): number | undefined {
  const [, tunnel, plain] =
    /^Proxy response \((\d{3})\)|^Proxy Authentication Required \((\d{3})\)/.exec(message) ?? [];
  const status = tunnel ?? plain;
  return status === undefined ? undefined : Number(status);
}
