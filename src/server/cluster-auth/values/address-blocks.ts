/**
 * CIDR blocks as the secrets service reads them back (wire/cluster-auth 2.4, "CIDR elements").
 * Invariant: canonical form is a fixed point; host bits are kept, a single address loses its prefix length.
 */
import { isIPv4, isIPv6 } from 'node:net';

import type { Coerced } from './field-coercion.ts';

/** The canonical form of each block, or the text for the first that is no address. */
export function canonicalBlocks(blocks: readonly string[]): Coerced<string[]> {
  const canonical: string[] = [];
  for (const block of blocks) {
    const form = canonicalBlock(block);
    if (form === undefined) {
      const quoted = JSON.stringify(block);
      const reason = `Unable to convert ${quoted} to an IPv4 or IPv6 address, or a UNIX Socket`;
      return { ok: false, problem: `error parsing address ${quoted}: ${reason}` };
    }
    canonical.push(form);
  }
  return { ok: true, value: canonical };
}

function canonicalBlock(block: string): string | undefined {
  const withPort = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(block);
  if (withPort !== null) {
    const address = canonicalAddress(withPort[1] ?? withPort[2] ?? '');
    if (address !== undefined && Number(withPort[3]) <= 65_535)
      return withPortNumber(address, Number(withPort[3]));
  }
  const [address = '', prefix, ...more] = block.split('/');
  const form = more.length === 0 ? canonicalPrefix(address, prefix) : undefined;
  // The original takes any other text with a slash for the path of a UNIX socket, which no caller ever comes from.
  return form ?? (block.length > 1 && /^\.|\//.test(block) ? block : undefined);
}

function canonicalPrefix(text: string, prefix: string | undefined): string | undefined {
  const address = canonicalAddress(text);
  if (address === undefined || prefix === undefined) return address;
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > (isIPv4(text) ? 32 : 128)) return undefined;
  if (!isIPv4(address)) return Number(prefix) === 128 ? address : `${address}/${Number(prefix)}`;
  // An IPv4 address written as IPv6 counts its prefix from the 96 leading bits.
  const length = isIPv4(text) ? Number(prefix) : Number(prefix) - 96;
  if (length < 0) return undefined;
  return length === 32 ? address : `${address}/${length}`;
}

/** The address in its shortest form; an IPv4 address in IPv6 clothes comes out as IPv4. */
function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const shortest = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(shortest);
  if (mapped === null) return shortest;
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function withPortNumber(address: string, port: number): string {
  if (port === 0) return address;
  return isIPv4(address) ? `${address}:${port}` : `[${address}]:${port}`;
}
