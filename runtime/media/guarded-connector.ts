import { lookup as resolveHost, type LookupAddress } from 'node:dns';
import { type LookupFunction, isIPv6, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { Outgoing } from '../network/certificates.js';
import { chooseProxy } from '../network/choose-proxy.js';
import { ProxyRefused } from '../network/connection-problem.js';
import { proxyAuthorization } from '../network/proxy-authorization.js';
import type { AddressGuard } from './address-guard.js';

/** The host leads to an address that callers may not name. */
export class BlockedAddress extends Error {
  override name = 'BlockedAddress';
}

/** The name behind a proxy has no address here that could be checked. */
export class UnresolvedName extends Error {
  override name = 'UnresolvedName';
}

export interface ConnectorOptions {
  timeoutMs: number;
  outgoing: Outgoing;
  /** The system's look-up unless given. */
  resolve?: typeof resolveHost | undefined;
}

/**
 * Connects to addresses that the guard allows only. Checking the resolved address at connect time leaves no gap for DNS
 * rebinding; literal addresses skip the look-up, so they are checked first. A proxy gets the address that was checked, in a
 * tunnel, never the name, which it would resolve again; but for hosts that the operator allowed by name.
 */
export function guardedConnector(
  guard: AddressGuard,
  { timeoutMs: timeout, outgoing, resolve = resolveHost }: ConnectorOptions,
): buildConnector.connector {
  const { settings, trust } = outgoing;
  const lookup = guardedLookup(guard, resolve);
  const connect = buildConnector({ timeout, lookup, ...trust });
  const secureTunnel = buildConnector({ timeout, ...trust });
  const proxies = new Agent({ connect: { timeout, ...trust }, headersTimeout: timeout });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    if (isLiteral(host) && !guard.allows(host)) return callback(new BlockedAddress(host), null);
    const proxy = chooseProxy(new URL(`${options.protocol}//${options.host}`), settings);
    if (proxy === undefined) return connect(options, callback);
    const port = options.port || (options.protocol === 'https:' ? '443' : '80');
    const target = async () => `${await checkedHost(host, guard, lookup)}:${port}`;
    openTunnel(proxies, { proxy, timeout, target }, (error, socket) => {
      if (error) callback(error, null);
      else if (options.protocol === 'https:') secureTunnel({ ...options, httpSocket: socket }, callback);
      else callback(null, socket);
    });
  };
}

const isLiteral = (host: string) => /^[\d.]+$|:/.test(host);

/** Refuses a name when any of its addresses is not allowed: which one is connected to is not ours to choose. */
function guardedLookup(guard: AddressGuard, resolve: typeof resolveHost): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, [], 0);
      const blocked = !guard.allowsHost(hostname) && addresses.find(({ address }) => !guard.allows(address));
      if (blocked || addresses.length === 0) return callback(new BlockedAddress(hostname), [], 0);
      if (options.all) callback(null, addresses);
      else callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
}

/** What a proxy is asked for: an address that was checked, or a name that is allowed with every address behind it. */
function checkedHost(host: string, guard: AddressGuard, lookup: LookupFunction): Promise<string> {
  if (isLiteral(host)) return Promise.resolve(isIPv6(host) ? `[${host}]` : host);
  if (guard.allowsHost(host)) return Promise.resolve(host);
  return new Promise((resolve, reject) => {
    // Not every proxy reaches IPv6.
    lookup(host, { order: 'ipv4first' }, (error, address) => {
      if (error) return reject(error instanceof BlockedAddress ? error : new UnresolvedName(host));
      resolve(isIPv6(address as string) ? `[${address as string}]` : (address as string));
    });
  });
}

interface Tunnel {
  proxy: URL;
  timeout: number;
  target(): Promise<string>;
}

/** @returns a connection to the target through the proxy. @throws ProxyRefused */
async function connectThrough(proxies: Dispatcher, { proxy, timeout, target }: Tunnel): Promise<Socket> {
  const path = await target();
  const authorization = proxyAuthorization(proxy);
  const headers = {
    host: path,
    ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
  };
  const signal = AbortSignal.timeout(timeout);
  const { socket, statusCode } = await proxies.connect({ origin: proxy.origin, path, headers, signal });
  if (statusCode === 200) return socket as Socket;
  socket.on('error', () => {}).destroy();
  throw new ProxyRefused(statusCode);
}

const openTunnel = callbackify(connectThrough);
