/**
 * CIDR blocks as the secrets service reads and prints them (wire/cluster-auth 2.4, "CIDR elements"), and whether an address is
 * in one. A text is read as IPv4, else as IPv6, else as a socket path. A path is printed in quotes, and reading the printed form
 * again adds another pair of quotes.
 */
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { parseDecimal } from './durations.ts';
import { type ValueOrProblem, quote, quoteAscii } from './field-coercion.ts';

/** A block: one address or network, or a socket, which matches no address. */
type AddressBlock =
  | { readonly family: 4 | 6; readonly address: string; readonly prefix: number; readonly port: number }
  | { readonly family: 'socket'; readonly path: string };

/** The printed form of all blocks of a request, or the error of the first invalid one. */
export function canonicalBlocks(blocks: readonly string[]): ValueOrProblem<string[]> {
  return printedBlocks(blocks, (text) => `error parsing address ${quote(text)}: `);
}

/** The same for stored blocks. The error has no "error parsing address" before it. */
export function storedBlocks(blocks: readonly string[]): ValueOrProblem<string[]> {
  return printedBlocks(blocks, () => '');
}

function printedBlocks(
  blocks: readonly string[],
  introduction: (text: string) => string,
): ValueOrProblem<string[]> {
  const canonical: string[] = [];
  for (const text of blocks) {
    const block = parseBlock(text);
    if (block === undefined) {
      const reason = `Unable to convert ${quote(text)} to an IPv4 or IPv6 address, or a UNIX Socket`;
      return { ok: false, problem: `${introduction(text)}${reason}` };
    }
    canonical.push(printBlock(block));
  }
  return { ok: true, value: canonical };
}

/** The parsed block; undefined for an invalid text. */
function parseBlock(text: string): AddressBlock | undefined {
  const block = ipv4Block(text) ?? ipv6Block(text);
  if (block !== undefined) return block;
  return text.length > 1 && /^\.|\//.test(text) ? { family: 'socket', path: text } : undefined;
}

function printBlock(block: AddressBlock): string {
  if (block.family === 'socket') return quoteAscii(block.path);
  const { family, address, prefix, port } = block;
  if (port !== 0) return family === 4 ? `${address}:${port}` : `[${address}]:${port}`;
  return prefix === bitsOf(family) ? address : `${address}/${prefix}`;
}

const bitsOf = (family: 4 | 6) => (family === 4 ? 32 : 128);

function ipv4Block(text: string): AddressBlock | undefined {
  // Some clients append a mask in hexadecimal digits. It is ignored.
  const bare = text.replace(/\/[0f]{8}$/, '');
  const block = cidr(bare);
  if (block !== undefined) {
    const address = asIPv4(block.address);
    return address === undefined ? undefined : { ...singleAddress(4, address), prefix: ipv4Prefix(block) };
  }
  const { host, port = 0 } = hostAndPort(bare) ?? {};
  const address = asIPv4(host ?? bare);
  return address === undefined ? undefined : { ...singleAddress(4, address), port };
}

/**
 * The prefix of an IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) counts the 96 bits before the IPv4 address. A prefix below 96 is
 * used as if it counted bits of the IPv4 address, at most 32: a bug of the real service.
 */
function ipv4Prefix({ address, prefix }: Cidr): number {
  if (isIPv4(address)) return prefix;
  return prefix >= 96 ? prefix - 96 : Math.min(prefix, 32);
}

function ipv6Block(text: string): AddressBlock | undefined {
  if (/^[^.:]*(?:\.|$)/.test(text)) return undefined;
  const hostPort = hostAndPort(text);
  if (hostPort !== undefined) {
    const address = asIPv6(hostPort.host.replace(/%.+$/, ''));
    if (address !== undefined) return { ...singleAddress(6, address), port: hostPort.port };
  }
  const bare = text.replace(/^\[(.+)\]$/s, '$1');
  const block = cidr(bare);
  const address = asIPv6(block?.address ?? bare);
  return address === undefined ? undefined : { ...singleAddress(6, address), prefix: block?.prefix ?? 128 };
}

function singleAddress(family: 4 | 6, address: string) {
  return { family, address, prefix: bitsOf(family), port: 0 } as const;
}

interface Cidr {
  readonly address: string;
  readonly prefix: number;
}

function cidr(text: string): Cidr | undefined {
  const [, address = '', digits = ''] = /^([^/]*)\/(\d+)$/.exec(text) ?? [];
  const family = isIPv4(address) ? 4 : 6;
  if (family === 6 && (!isIPv6(address) || address.includes('%'))) return undefined;
  const prefix = Number(digits);
  return digits === '' || prefix > bitsOf(family) ? undefined : { address, prefix };
}

/** `host:port`, or `[host]:port` where the host has colons; an empty port is 0. Host names are not resolved. */
function hostAndPort(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:]*)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const port = digits === '' ? 0n : parseDecimal(digits);
  if (port === undefined || port < 0n || port > 65_535n) return undefined;
  return { host: bracketed ?? plain ?? '', port: Number(port) };
}

/** The IPv4 address in a text, which may be an IPv4-mapped IPv6 address; undefined for any other text. */
function asIPv4(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(asIPv6(text) ?? '') ?? [];
  if (high === undefined || low === undefined) return undefined;
  const [upper, lower] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join('.');
}

/** The IPv6 address in its shortest form; undefined for any other text. */
function asIPv6(text: string): string | undefined {
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}

// Whether an address is in one of the CIDR blocks that a role or a token is bound to (wire/cluster-auth 2.4).
// Invariant: the path of a socket, however it is quoted, matches no address.

/** Whether one of the blocks, in the stored form of roles, contains the address. */
export function admitsAddress(blocks: readonly string[], address: string | undefined): boolean {
  const plain = address?.replace(/^::ffff:(?=\d+\.)/i, '');
  if (plain === undefined || isIP(plain) === 0) return false;
  return blocks.some((block) => contains(block, plain));
}

function contains(block: string, address: string): boolean {
  const [, bracketed] = /^(?:\[(.+)\]|[\d.]+):\d+$/.exec(block) ?? [];
  const range = bracketed ?? block.replace(/^([\d.]+):\d+$/, '$1');
  const [base = '', length] = range.split('/');
  if (isIP(base) === 0 || isIPv6(base) !== isIPv6(address)) return false;
  const family = isIPv6(base) ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  if (length === undefined) list.addAddress(base, family);
  else if (/^\d{1,3}$/.test(length) && Number(length) <= (family === 'ipv6' ? 128 : 32))
    list.addSubnet(base, Number(length), family);
  return list.check(address, family);
}
