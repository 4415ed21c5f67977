/** IP addresses and CIDR blocks as a role binds tokens to them: which texts are one, and which block holds which. */
import ipaddr from 'ipaddr.js';

/** True for an IPv4 or IPv6 address with or without a prefix length, or with a port, which the service takes too. */
export function isAddressBlock(text: string): boolean {
  const [address = '', prefix, ...more] = withoutPort(text).split('/');
  if (more.length > 0) return false;
  const whole = addressBits(address);
  if (whole === undefined) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= whole);
}

/** True when every address of `inner` is one of `outer`; false when either is no block. */
export function holdsBlock(outer: string, inner: string): boolean {
  if (outer === inner) return true;
  if (!isAddressBlock(outer) || !isAddressBlock(inner)) return false;
  const [wide, narrow] = [parseBlock(outer), parseBlock(inner)];
  if (wide === undefined || narrow === undefined || wide[0].kind() !== narrow[0].kind()) return false;
  return wide[1] <= narrow[1] && narrow[0].match(wide[0], wide[1]);
}

function withoutPort(text: string): string {
  return /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? /^\[(.+)\]:\d{1,5}$/.exec(text)?.[1] ?? text;
}

/** Only the plain spellings: the parser itself would also read `10` as an address. */
function addressBits(address: string): number | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return 32;
  return ipaddr.IPv6.isValid(address) && !address.includes('%') ? 128 : undefined;
}

function parseBlock(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  const [address = '', prefix] = text.split('/');
  const bits = addressBits(address);
  return bits === undefined
    ? undefined
    : [ipaddr.parse(address), prefix === undefined ? bits : Number(prefix)];
}
