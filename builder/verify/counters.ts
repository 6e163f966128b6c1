import type { IsolatedContainer } from '../docker/isolated.js';
import { BuilderError } from '../exit.js';

/** Attempts to reach something outside of a container without a network, as its kernel has counted them. */
export interface NetworkAttempts {
  /** Packets and connects that no route led to, IPv4 and IPv6, name look-ups included. */
  noRoute: number;
  /** Connects on the container's own loopback that nobody in it has accepted, e.g. to a proxy. */
  refused: number;
  /** Datagrams on its loopback that nobody in it has taken, e.g. to a name server. */
  datagrams: number;
}

/**
 * Reads the counters of the container's network from inside it, where they are on every engine.
 * @throws BuilderError `failure` when they can't be read: without them nothing is proven
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

/** Two lines a protocol, names and values, in the one file; a name and a value a line in the other. */
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
