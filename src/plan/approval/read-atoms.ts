/** The inverse of `atomsOf`: the changes of an approved plan, from the atoms that the ledger keeps (rule 28). */
import { type Address, formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { Action, DigestedChange, Identity } from '../../model/plan/change.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import type { Json, Path } from '../../model/json/json.ts';
import { secretPlaceholder } from '../../model/redaction/known-secrets.ts';
import type { DigestItem } from './digest.ts';

type ParsedDigestItem =
  | readonly [address: string, action: Action, meant?: Partial<Identity> & Pick<DigestedChange, 'references'>]
  | readonly [
      address: string,
      path: Path,
      before: FieldSide & { readonly unknown?: string },
      after: FieldSide,
    ];

interface DigestItemGroup {
  readonly address: Address;
  readonly fields: FieldChange[];
  action?: Action;
  id?: string;
  fingerprint?: string;
  references?: NonNullable<DigestedChange['references']>;
}

interface FieldSide {
  readonly is?: Json;
  /** of a redacted value */
  readonly hash?: string;
}

/**
 * One change for each address. Atoms hold no shape, so every field is a `scalar`.
 * @throws when a text is no atom: a bug, because the ledger's checksum was correct
 */
export function readDigestItems(atoms: Iterable<DigestItem>): DigestedChange[] {
  const found = new Map<string, DigestItemGroup>();
  for (const atom of atoms) {
    const parsed: ParsedDigestItem = JSON.parse(atom);
    const address = parseAddress(parsed[0]);
    const change = found.get(parsed[0]) ?? { address, fields: [] };
    found.set(parsed[0], change);
    if (parsed.length === 4) change.fields.push(readField(parsed));
    else Object.assign(change, { action: parsed[1], ...parsed[2] });
  }
  return [...found.values()].map(({ action, ...change }) => {
    if (action === undefined)
      throw new Error(`no atom tells what becomes of ${formatAddress(change.address)}`);
    return { ...change, action };
  });
}

function readField([, path, before, after]: Extract<ParsedDigestItem, { length: 4 }>): FieldChange {
  const redacted = {
    ...(before.hash === undefined ? {} : { before: before.hash }),
    ...(after.hash === undefined ? {} : { after: after.hash }),
  };
  return {
    path,
    ...readSide('before', before),
    ...(before.unknown === undefined ? {} : { unknown: before.unknown }),
    ...readSide('after', after),
    shape: 'scalar',
    ...(Object.keys(redacted).length === 0 ? {} : { redacted }),
  };
}

function readSide(side: 'before' | 'after', { is, hash }: FieldSide): Pick<FieldChange, typeof side> {
  const value = hash === undefined ? is : secretPlaceholder;
  return value === undefined ? {} : { [side]: value };
}
