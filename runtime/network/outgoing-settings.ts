/** How connections to other machines are made: through which proxies, and which certificate authorities are trusted. */
export interface OutgoingSettings {
  /** Proxy for http addresses. May hold a user and a password, so it is never logged. */
  httpProxy: URL | undefined;
  /** Proxy for https addresses. */
  httpsProxy: URL | undefined;
  /** Entries of NO_PROXY: hosts, domains, addresses and networks that are connected to directly. */
  noProxy: readonly string[];
  /** Files of certificate authorities in PEM that are trusted beside the public ones, by their variable. */
  bundles: Readonly<Record<string, string>>;
}

/** Direct connections, public certificate authorities. */
export const DIRECT: { settings: OutgoingSettings; trust: object } = {
  settings: { httpProxy: undefined, httpsProxy: undefined, noProxy: [], bundles: {} },
  trust: {},
};

/** Each name is also read in lower case, which wins, as in Python; there an empty value means none. */
export const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'] as const;

/** Node.js itself reads the first at its start, but only where no other bundle is given. */
export const BUNDLE_VARIABLES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE'] as const;

const BOTH_SPELLINGS: readonly string[] = PROXY_VARIABLES.flatMap((name) => [name, name.toLowerCase()]);

type Failure = (message: string) => Error;

/**
 * Reads the usual variables for proxies and certificate authorities.
 * @param fail makes the error; its message names the variable, never the value, which may hold a password
 */
export function readOutgoingSettings(env: NodeJS.ProcessEnv, fail: Failure): OutgoingSettings {
  const proxy = (...names: readonly (typeof PROXY_VARIABLES)[number][]) => {
    const [found] = names.flatMap((name) => valueOf(env, name) ?? []);
    return found && parseProxy(found, fail);
  };
  return {
    httpProxy: proxy('HTTP_PROXY', 'ALL_PROXY'),
    httpsProxy: proxy('HTTPS_PROXY', 'ALL_PROXY'),
    noProxy: (valueOf(env, 'NO_PROXY')?.value ?? '').split(/[\s,]+/).filter(Boolean),
    bundles: Object.fromEntries(BUNDLE_VARIABLES.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
  };
}

/** The proxy variables that are set, in both spellings. */
export function proxyArguments(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(BOTH_SPELLINGS.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

/** Names of the proxy variables whose value holds a password. */
export function exposedProxies(env: NodeJS.ProcessEnv): string[] {
  return BOTH_SPELLINGS.filter((name) => /\/\/[^/@]*@|^[^/@]+@/.test(env[name] ?? ''));
}

interface Given {
  name: string;
  value: string;
}

function valueOf(env: NodeJS.ProcessEnv, variable: string): Given | undefined {
  const lower = variable.toLowerCase();
  const name = env[lower] === undefined ? variable : lower;
  const value = env[name]?.trim();
  return value ? { name, value } : undefined;
}

/** An address without a scheme is an http proxy. */
function parseProxy({ name, value }: Given, fail: Failure): URL {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!URL.canParse(text)) throw fail(`${name} is not an address; give http://host:port`);
  const proxy = new URL(text);
  if (proxy.protocol === 'http:' || proxy.protocol === 'https:') return proxy;
  const scheme = proxy.protocol.replace(':', '');
  throw fail(`${name} names a ${scheme} proxy; give an http or https proxy, or unset it`);
}
