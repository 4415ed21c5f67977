/** The address of a resource, `kind/target/name`. Only this file knows how it is written. */

export interface Address {
  readonly kind: string;
  readonly target: string;
  readonly name: string;
}

declare const isAddress: unique symbol;

/**
 * `Kind/acme/network-prod`. Kinds and targets have no slash, so the text can be parsed back without loss. Made by
 * `formatAddress`, or from a text of a JSON file by `readAddress`.
 */
export type AddressText = string & { readonly [isAddress]: true };

export function formatAddress({ kind, target, name }: Address): AddressText {
  return branded(`${kind}/${target}/${name}`);
}

/** @throws when the text is no address: a bug, for only our own output is read back */
export function readAddress(text: string): AddressText {
  return formatAddress(parseAddress(text));
}

/** @throws when the text is no address: a bug, for only our own output is read back */
export function parseAddress(text: string): Address {
  const [kind, target, ...name] = text.split('/');
  if (!kind || !target || name.length === 0) throw new Error(`not an address: ${text}`);
  return { kind, target, name: name.join('/') };
}

/** Whether the text is the address of a resource of this kind in this target; cheaper than to parse it. */
export function isOf(text: AddressText, { kind, target }: Omit<Address, 'name'>): boolean {
  return text.startsWith(`${kind}/${target}/`);
}

function branded(text: string): AddressText {
  return text as AddressText;
}
