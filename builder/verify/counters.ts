import type { IsolatedContainer } from '../docker/isolated.js';
import { BuilderError } from '../exit.js';

/** Network attempts of a container without a network, from kernel counters. */
export interface NetworkAttempts {
  /** Packets and connects without a route, IPv4 and IPv6, DNS lookups included. */
  noRoute: number;
  /** Refused connects on the container's own loopback, e.g. to a proxy. */
  refused: number;
  /** Unreceived datagrams on its loopback, e.g. to a name server. */
  datagrams: number;
}

/**
 * Reads the counters from inside the container, which works with every engine.
 * @throws BuilderError `failure` when they can't be read, since the proof needs them
 */
export async function readAttempts(container: IsolatedContainer): Promise<NetworkAttempts> {
  const show =
    'for (const f of ["snmp", "snmp6"]) try { console.log(fs.readFileSync("/proc/net/" + f, "utf8")) } catch {}';
  const { stdout, stderr } = await container.exec(['node', '--eval', show], { env: { NODE_OPTIONS: '' } });
  const counters = parseCounters(stdout.toString('utf8'));
  if (!counters.has('Ip.OutNoRoutes') || !counters.has('Tcp.ActiveOpens'))
    throw new BuilderError('failure', `the container's network counters can't be read: ${stderr.trim()}`);
  const count = (name: string) => counters.get(name) ?? 0;
  return {
    noRoute: count('Ip.OutNoRoutes') + count('Ip6OutNoRoutes'),
    refused: count('Tcp.ActiveOpens') - count('Tcp.PassiveOpens'),
    datagrams:
      count('Udp.OutDatagrams') -
      count('Udp.InDatagrams') +
      (count('Udp6OutDatagrams') - count('Udp6InDatagrams')),
  };
}

export function totalAttempts({ noRoute, refused, datagrams }: NetworkAttempts): number {
  return noRoute + refused + datagrams;
}

/** One file has two lines per protocol, names and values; the other has a name and a value per line. */
function parseCounters(text: string): Map<string, number> {
  const counters = new Map<string, number>();
  const names = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [head = '', ...rest] = line.trim().split(/\s+/);
    if (!head.endsWith(':')) counters.set(head, Number(rest[0]));
    else if (!names.has(head)) names.set(head, rest);
    else
      names.get(head)!.forEach((name, at) => counters.set(`${head.slice(0, -1)}.${name}`, Number(rest[at])));
  }
  return counters;
}
