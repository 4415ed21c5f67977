/** The address of a resource, `kind/target/name`. Only this file knows how it is written. */

export interface Address {
  readonly kind: string;
  readonly target: string;
  readonly name: string;
}

declare const isAddress: unique symbol;

/**
 * `Kind/acme/network-prod`. Kinds and targets have no slash, so the text can be parsed back without loss. `formatAddress` makes it,
 * or `readAddress` from a text in a JSON file.
 */
export type AddressText = string & { readonly [isAddress]: true };

export function formatAddress(address: Address): AddressText {
  return KnownAddress.keptText(address) ?? textOf(address);
}

function textOf({ kind, target, name }: Address): AddressText {
  // A template literal makes a string of unjoined parts, which each lookup in a map would join again.
  return branded([kind, target, name].join('/'));
}

/** An address that keeps its text. */
class KnownAddress implements Address {
  readonly kind: string;
  readonly target: string;
  readonly name: string;
  readonly #text: AddressText;

  constructor(address: Address) {
    this.kind = address.kind;
    this.target = address.target;
    this.name = address.name;
    this.#text = textOf(address);
  }

  static keptText(address: Address): AddressText | undefined {
    return #text in address ? address.#text : undefined;
  }
}

/** The same address as an object that keeps its text: a plan uses the address of a resource as a key of maps dozens of times. */
export function knownAddress(address: Address): Address {
  return new KnownAddress(address);
}

/** @throws when the text is not an address: a bug, because only texts that trueup wrote are read back */
export function readAddress(text: string): AddressText {
  return formatAddress(parseAddress(text));
}

/** @throws when the text is not an address: a bug, because only texts that trueup wrote are read back */
export function parseAddress(text: string): Address {
  const afterKind = text.indexOf('/');
  const afterTarget = text.indexOf('/', afterKind + 1);
  const [kind, target] = [text.slice(0, afterKind), text.slice(afterKind + 1, afterTarget)];
  if (afterKind === -1 || afterTarget === -1 || kind === '' || target === '')
    throw new Error(`not an address: ${text}`);
  return { kind, target, name: text.slice(afterTarget + 1) };
}

/** `Kind/acme`: kind and target, without the name. */
export function kindAndTarget({ kind, target }: Omit<Address, 'name'>): string {
  return `${kind}/${target}`;
}

/** The same from the text of an address. It does not parse the text, which is faster. */
export function kindAndTargetIn(text: AddressText): string {
  return text.slice(0, text.indexOf('/', text.indexOf('/') + 1));
}

function branded(text: string): AddressText {
  return text as AddressText;
}
