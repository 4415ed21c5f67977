/**
 * The URL of a call to the cluster, read as strictly as the real services read it (wire/cluster-auth 3).
 * Invariant: nothing is mended on the way: what a browser would trim, complete or resolve is no URL here, or goes out as
 * it was written.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

/** Where a call goes, as Node's requests take it. */
interface ClusterUrl {
  readonly protocol: 'http:' | 'https:';
  readonly hostname: string;
  /** Empty for the one of the protocol. */
  readonly port: string;
  /** What the request line names: path and query, dots and doubled slashes included. */
  readonly path: string;
}

/** Scheme, user (which counts for nothing beside a bearer token), host with its port, and the rest without a fragment. */
const FORM = /^(https?):\/\/(?:[\w.~!$&'()*+,;=:@%-]*@)?([^/?#@]+)([^#]*)/i;

const IN_BRACKETS = /^\[([^[\]]+)\](?::(\d*))?$/;
const BY_NAME = /^([\w.~!$&'()*+,;=\u0080-\uffff-]+)(?::(\d*))?$/;

const CONTROL = /\p{Cc}/u;

/** What stands in a request line as it is. */
const NOT_PLAIN = /[^\w.~!$&'()*+,;=:@[\]%/?-]+/gu;

/** Reads it; undefined for what is none, or leads to no host. */
export function readClusterUrl(text: string): ClusterUrl | undefined {
  const [, scheme = '', place = '', rest = ''] = CONTROL.test(text) ? [] : (FORM.exec(text) ?? []);
  const [path = ''] = rest.split('?');
  const host = readHost(place);
  if (host === undefined || /%(?![0-9a-f]{2})/i.test(path)) return undefined;
  return {
    protocol: scheme.toLowerCase() === 'https' ? 'https:' : 'http:',
    ...host,
    path: (rest.startsWith('/') ? rest : `/${rest}`).replace(NOT_PLAIN, encodeURIComponent),
  };
}

function readHost(place: string): Pick<ClusterUrl, 'hostname' | 'port'> | undefined {
  const [, address, addressPort = ''] = IN_BRACKETS.exec(place) ?? [];
  if (address !== undefined) return isIPv6(address) ? { hostname: address, port: addressPort } : undefined;
  const [, name = '', port = ''] = BY_NAME.exec(place) ?? [];
  const hostname = domainToASCII(name);
  // Only the full form of an address is one: of 127.1 and 2130706433 other resolvers make 127.0.0.1.
  const isShortAddress = isIPv4(hostname) && hostname !== name;
  return hostname === '' || isShortAddress ? undefined : { hostname, port };
}
