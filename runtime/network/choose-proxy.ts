import ipaddr from 'ipaddr.js';
import type { OutgoingSettings } from './outgoing-settings.js';

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * The proxy for an address; undefined for a direct connection. This machine itself is never reached through a proxy. An
 * entry of NO_PROXY is `*`, a host with its subdomains, an address or a network such as 10.0.0.0/8; hosts and addresses may
 * have a port.
 */
export function chooseProxy(url: URL, settings: OutgoingSettings): URL | undefined {
  const proxy = url.protocol === 'https:' ? settings.httpsProxy : settings.httpProxy;
  if (proxy === undefined) return undefined;
  const host = url.hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  const port = url.port || DEFAULT_PORTS[url.protocol]!;
  if (isLoopback(host) || settings.noProxy.some((entry) => matches(entry.toLowerCase(), host, port)))
    return undefined;
  return proxy;
}

function isLoopback(host: string): boolean {
  if (!ipaddr.isValid(host)) return host === 'localhost' || host.endsWith('.localhost');
  return ipaddr.process(host).range() === 'loopback';
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (ipaddr.isValidCIDR(entry)) return isWithin(host, entry);
  const [, name = '', wanted] = ipaddr.isValid(entry)
    ? [entry, entry]
    : (/^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(entry) ?? []);
  if (wanted !== undefined && wanted !== port) return false;
  if (ipaddr.isValid(host)) return ipaddr.isValid(name) && sameAddress(host, name);
  const domain = name.replace(/^\*?\./, '').replace(/\.$/, '');
  return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
}

function isWithin(host: string, network: string): boolean {
  if (!ipaddr.isValid(host)) return false;
  const address = ipaddr.process(host);
  const [base, bits] = ipaddr.parseCIDR(network);
  return address.kind() === base.kind() && address.match([base as never, bits] as never);
}

function sameAddress(a: string, b: string): boolean {
  return ipaddr.process(a).toNormalizedString() === ipaddr.process(b).toNormalizedString();
}
