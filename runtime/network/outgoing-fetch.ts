import type { Outgoing } from './certificates.js';

/** True where Node's own fetch does all that is set. */
export function isPlain({ settings: { httpProxy, httpsProxy }, trust }: Outgoing): boolean {
  return httpProxy === undefined && httpsProxy === undefined && trust.secureContext === undefined;
}

/**
 * fetch that goes through the proxies and trusts the authorities of the settings. undici is loaded at the first call, and
 * only where Node's own fetch is not enough.
 */
export function outgoingFetch(outgoing: Outgoing): typeof fetch {
  if (isPlain(outgoing)) return fetch;
  let loaded: Promise<typeof fetch> | undefined;
  return async (input, init) => (await (loaded ??= load(outgoing)))(input, init);
}

async function load(outgoing: Outgoing): Promise<typeof fetch> {
  return (await import('./dispatcher.js')).proxiedFetch(outgoing);
}
