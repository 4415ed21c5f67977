/**
 * Whether an address is in one of the CIDR blocks that a role or a token is bound to (wire/cluster-auth 2.4).
 * Invariant: what is no block of addresses (the path of a socket, in whatever quotes) admits nobody.
 */
import { BlockList, isIP, isIPv6 } from 'node:net';

/** Whether one of the blocks, in the form in which roles keep them, holds the address. */
export function admitsAddress(blocks: readonly string[], address: string | undefined): boolean {
  const plain = address?.replace(/^::ffff:(?=\d+\.)/i, '');
  if (plain === undefined || isIP(plain) === 0) return false;
  return blocks.some((block) => holds(block, plain));
}

function holds(block: string, address: string): boolean {
  const [, withPort] = /^(?:\[(.+)\]|[\d.]+):\d+$/.exec(block) ?? [];
  const range = withPort ?? block.replace(/^([\d.]+):\d+$/, '$1');
  const [base = '', length] = range.split('/');
  if (isIP(base) === 0 || isIPv6(base) !== isIPv6(address)) return false;
  const family = isIPv6(base) ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  if (length === undefined) list.addAddress(base, family);
  else if (/^\d{1,3}$/.test(length) && Number(length) <= (family === 'ipv6' ? 128 : 32))
    list.addSubnet(base, Number(length), family);
  return list.check(address, family);
}
