import ipaddr from 'ipaddr.js';

/** Which addresses foreign URLs may lead to. */
export interface AddressGuard {
  /** True for public unicast addresses, and for private ones that the operator allowed. */
  allows(address: string): boolean;
  /** True when the operator allowed this host name with every address behind it. */
  allowsHost(host: string): boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Cloud metadata services that sit on public-looking addresses. */
const METADATA = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254']);

/** @param allowed host names, addresses and networks in CIDR form (ALLOW_PRIVATE_URLS) */
export function createAddressGuard(allowed: readonly string[]): AddressGuard {
  const networks = allowed
    .filter((entry) => ipaddr.isValidCIDR(entry))
    .map((entry) => ipaddr.parseCIDR(entry));
  const addresses = new Set(
    allowed.filter((entry) => ipaddr.isValid(entry)).map((entry) => canonical(entry)),
  );
  const hosts = new Set(allowed.map((entry) => entry.toLowerCase()));
  return {
    allowsHost: (host) => hosts.has(host.toLowerCase()),
    allows(address) {
      if (!ipaddr.isValid(address)) return false;
      const parsed = ipaddr.process(address);
      if (addresses.has(parsed.toNormalizedString()) || networks.some((network) => within(parsed, network)))
        return true;
      return isPublic(parsed) && !METADATA.has(parsed.toString());
    },
  };
}

function canonical(address: string): string {
  return ipaddr.process(address).toNormalizedString();
}

function within(address: Address, [base, bits]: [Address, number]): boolean {
  return address.kind() === base.kind() && address.match([base as never, bits] as never);
}

function isPublic(address: Address): boolean {
  // All of IPv6 that is in public use is 2000::/3; the library also takes the unassigned rest for unicast.
  const assigned = address.kind() === 'ipv4' || (address as ipaddr.IPv6).parts[0]! >> 13 === 1;
  return assigned && address.range() === 'unicast';
}
