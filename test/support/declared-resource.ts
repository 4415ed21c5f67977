/** A declared resource, made without manifests. */
import { type Address, formatAddress } from '../../src/model/address.ts';
import type { DesiredResource, Metadata, Spec } from '../../src/model/resource.ts';

export function declaredResource(
  address: Address,
  spec: Spec = {},
  metadata: Partial<Metadata> = {},
): DesiredResource {
  const place = { file: 'manifest.yaml', line: 1, column: 1, length: 1, text: formatAddress(address) };
  return {
    address,
    spec,
    metadata: { name: address.name, ...metadata },
    place,
    placeOf: () => place,
    fromDefaults: [],
  };
}
