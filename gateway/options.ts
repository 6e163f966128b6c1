import { InvalidArgumentError } from 'commander';
import { parseOrigins } from '../runtime/wire/origins.js';

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Node's timers fire at once beyond this. */
const LONGEST_MS = 2 ** 31 - 1;

/** `90s`, `5m`, `1h` as milliseconds. */
export function parseDuration(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('expected a time such as 30s, 5m or 1h');
  const ms = Number(amount) * UNITS[unit as keyof typeof UNITS];
  if (ms > LONGEST_MS) throw new InvalidArgumentError('expected at most 24 days (596h)');
  return ms;
}

/** `8GB`, `512MB` as GB of 10^9 bytes. */
export function parseGigabytes(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*(GB|MB|G|M)$/i.exec(text) ?? [];
  if (amount === undefined || Number(amount) === 0)
    throw new InvalidArgumentError('expected an amount such as 8GB or 512MB');
  return Number(amount) / (unit!.toUpperCase().startsWith('M') ? 1000 : 1);
}

export interface Rate {
  calls: number;
  seconds: number;
}

/** `600/60s`: calls per time. */
export function parseRate(text: string): Rate {
  const [, calls, time] = /^(\d+)\/(\d+(?:ms|s|m|h))$/.exec(text) ?? [];
  if (calls === undefined || Number(calls) === 0)
    throw new InvalidArgumentError('expected calls in a time, such as 600/60s');
  return { calls: Number(calls), seconds: parseDuration(time!) / 1000 };
}

export function parseCount(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('expected a whole number above 0');
}

/** As `parseCount`, or none at all. */
export function parseWhole(text: string): number {
  return text === '0' ? 0 : parseCount(text);
}

export function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('expected a whole number from 0 to 65535');
}

/** `9464`, `0.0.0.0:9464`, `[::1]:9464`: an address to listen on. The host defaults to 127.0.0.1. */
export function parseAddress(text: string): { host: string; port: number } {
  const [, host = '127.0.0.1', digits = ''] = /^(?:(.+):)?([^:]*)$/.exec(text) ?? [];
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: parsePort(digits) };
}

export function parseHttpAddress(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '');
  throw new InvalidArgumentError('expected an http(s) address');
}

/** The address by which others reach this gateway: `https://models.example/ai`, without anything that a link would spread. */
export function parsePublicAddress(text: string): string {
  const address = parseHttpAddress(text);
  const { username, password, search, hash } = new URL(address);
  if (username + password + search + hash === '' && !/[?#]/.test(address)) return address;
  throw new InvalidArgumentError('expected an address without a user, a query or a fragment');
}

/** A Kubernetes name. */
export function parseDnsLabel(text: string): string {
  if (/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError('expected lower-case letters, digits and dashes');
}

/** Part of the names of networks and containers. */
export function parseGatewayName(text: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,30}$/.test(text)) return text;
  throw new InvalidArgumentError('expected small letters, digits and hyphens');
}

/** Origins of pages, separated by commas. */
export function parseAllowedOrigins(text: string): string[] {
  const origins = parseOrigins(text);
  if (origins !== undefined) return origins;
  throw new InvalidArgumentError('expected origins such as https://app.example, or *');
}
