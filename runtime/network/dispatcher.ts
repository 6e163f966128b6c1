import { Agent, fetch as send, Pool, ProxyAgent } from 'undici';
import type { Outgoing } from './certificates.js';
import { chooseProxy } from './choose-proxy.js';
import { proxyAuthorization } from './proxy-authorization.js';

/** undici's fetch through the proxies of the settings. Loaded only where Node's own fetch is not enough. */
export function proxiedFetch(outgoing: Outgoing): typeof fetch {
  const dispatcher = createDispatcher(outgoing);
  // The types of undici and of Node's own fetch are two sets for one thing.
  return ((input: string, init: object) => send(input, { ...init, dispatcher })) as unknown as typeof fetch;
}

type PoolOptions = Pick<Agent.Options, 'headersTimeout' | 'bodyTimeout' | 'connections' | 'pipelining'>;

/** One pool of connections for each origin, through its proxy or direct. */
export function createDispatcher({ settings, trust }: Outgoing, options: PoolOptions = {}): Agent {
  return new Agent({
    ...options,
    connect: { ...trust },
    factory(origin, poolOptions) {
      const proxy = chooseProxy(new URL(origin), settings);
      if (proxy === undefined) return new Pool(origin, poolOptions);
      const token = proxyAuthorization(proxy);
      return new ProxyAgent({
        ...options,
        uri: `${proxy.protocol}//${proxy.host}`,
        // Proxies commonly refuse tunnels to other ports than 443.
        proxyTunnel: false,
        ...{ requestTls: trust, proxyTls: trust },
        ...(token === undefined ? {} : { token }),
      });
    },
  });
}
