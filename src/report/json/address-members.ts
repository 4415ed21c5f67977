/** The members of an address in JSON: as one text, and as its parts. */
import { type Address, formatAddress } from '../../model/resource/address.ts';

export function addressMembers(address: Address) {
  const { kind, target, name } = address;
  return { address: formatAddress(address), kind, target, name };
}
