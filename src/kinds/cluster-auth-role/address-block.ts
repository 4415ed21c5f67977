/** IP addresses and CIDR blocks that tokens are bound to: parses texts, and compares blocks. */
import ipaddr from 'ipaddr.js';

/** True for an IPv4 or IPv6 address with or without a prefix length, or with a port, which the service accepts too. */
export function isAddressBlock(text: string): boolean {
  const [address = '', prefix, ...more] = withoutPort(text).split('/');
  if (more.length > 0) return false;
  const whole = addressBits(address);
  if (whole === undefined) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= whole);
}

/**
 * What the service makes of an IPv4 address written as IPv6 with a prefix below 96; undefined for any other text. It takes
 * the prefix for one of IPv4, so that the block would never be answered as declared (wire/cluster-auth 2.4).
 */
export function takenForIPv4(text: string): string | undefined {
  const [address = '', prefix] = text.split('/');
  if (prefix === undefined || Number(prefix) >= 96 || !ipaddr.IPv6.isValid(address)) return undefined;
  const parsed = ipaddr.IPv6.parse(address);
  if (!parsed.isIPv4MappedAddress()) return undefined;
  const plain = parsed.toIPv4Address().toString();
  return Number(prefix) < 32 ? `${plain}/${Number(prefix)}` : plain;
}

/**
 * True when `outer` contains every address of `inner`; false when either is no block. Ports do not count, and an IPv4 address as
 * IPv6 is the IPv4 address, as for the service (wire/cluster-auth 2.4).
 */
export function holdsBlock(outer: string, inner: string): boolean {
  if (outer === inner) return true;
  if (!isAddressBlock(outer) || !isAddressBlock(inner)) return false;
  const [wide, narrow] = [parseBlock(outer), parseBlock(inner)];
  if (wide === undefined || narrow === undefined || wide[0].kind() !== narrow[0].kind()) return false;
  return wide[1] <= narrow[1] && narrow[0].match(wide[0], wide[1]);
}

function withoutPort(text: string): string {
  const [, v4, v6, port] = /^(?:([\d.]+)|\[(.+)\]):(\d{1,5})$/.exec(text) ?? [];
  return port !== undefined && Number(port) <= 65_535 ? (v4 ?? v6 ?? text) : text;
}

/** Only the plain spellings: the parser itself would also read `10` as an address. */
function addressBits(address: string): number | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return 32;
  return ipaddr.IPv6.isValid(address) && !address.includes('%') ? 128 : undefined;
}

function parseBlock(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  const [written = '', writtenPrefix] = withoutPort(text).split('/');
  if (addressBits(written) === undefined) return undefined;
  const address = ipaddr.process(written);
  const bits = address.kind() === 'ipv4' ? 32 : 128;
  if (writtenPrefix === undefined) return [address, bits];
  const prefix = Number(writtenPrefix);
  const isMapped = bits === 32 && addressBits(written) === 128;
  // A prefix below 96 counts for the IPv4 address itself: a mistake of the service.
  return [address, Math.min(isMapped && prefix >= 96 ? prefix - 96 : prefix, bits)];
}
