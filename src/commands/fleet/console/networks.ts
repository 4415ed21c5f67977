/** IPv4 and IPv6 addresses and networks. */
import { BlockList, isIP } from 'node:net';
import { quoted } from '../../../model/quoted.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

export function isLoopback(address: string | undefined): boolean {
  return checkAddress(loopback, address);
}

export function contains(networks: readonly string[], address: string | undefined): boolean {
  const list = new BlockList();
  for (const network of networks) addNetwork(list, network);
  return checkAddress(list, address);
}

/** @throws the error of Node for a network that does not exist, such as 10.0.0.0/64 */
function addNetwork(list: BlockList, network: string): void {
  const [address = '', bits] = network.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (bits === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(bits), family);
}

function checkAddress(list: BlockList, address = ''): boolean {
  // A socket for both families shows IPv4 addresses in this form.
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  const version = isIP(plain);
  return version !== 0 && list.check(plain, version === 6 ? 'ipv6' : 'ipv4');
}

/** Why a text is not a network; undefined if it is one. */
export function networkProblem(network: string): string | undefined {
  try {
    addNetwork(new BlockList(), network);
    return undefined;
  } catch {
    return `${quoted(network)} is neither an address nor a network such as 10.0.0.0/8`;
  }
}
