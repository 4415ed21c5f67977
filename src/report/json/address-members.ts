/** An address as JSON has it: as text and in its parts. */
import { type Address, formatAddress } from '../../model/resource/address.ts';

export function addressMembers(address: Address) {
  const { kind, target, name } = address;
  return { address: formatAddress(address), kind, target, name };
}
