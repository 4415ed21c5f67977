/** The inverse of `atomsOf`: what an approved plan meant, from the atoms that the ledger keeps of it (RULES 28). */
import { type Address, formatAddress, parseAddress } from '../model/address.ts';
import type { Action, MeantChange } from '../model/change.ts';
import type { FieldChange } from '../model/field.ts';
import type { Json, Path } from '../model/json.ts';
import type { Atom } from './digest.ts';

type Parsed =
  | readonly [address: string, action: Action]
  | readonly [address: string, path: Path, before: Side & { readonly unknown?: string }, after: Side];

interface Side {
  readonly is?: Json;
}

/**
 * One change for each address. Atoms do not tell how a value is shown, so every field is a `scalar`.
 * @throws when a text is no atom: a bug, for the ledger's checksum has held
 */
export function readAtoms(atoms: Iterable<Atom>): MeantChange[] {
  const found = new Map<string, { address: Address; action?: Action; fields: FieldChange[] }>();
  for (const atom of atoms) {
    const parsed: Parsed = JSON.parse(atom);
    const address = parseAddress(parsed[0]);
    const change = found.get(parsed[0]) ?? { address, fields: [] };
    found.set(parsed[0], change);
    if (parsed.length === 2) change.action = parsed[1];
    else change.fields.push(readField(parsed));
  }
  return [...found.values()].map(({ address, action, fields }) => {
    if (action === undefined) throw new Error(`no atom tells what becomes of ${formatAddress(address)}`);
    return { address, action, fields };
  });
}

function readField([, path, before, after]: Extract<Parsed, { length: 4 }>): FieldChange {
  return {
    path,
    ...(before.is === undefined ? {} : { before: before.is }),
    ...(before.unknown === undefined ? {} : { unknown: before.unknown }),
    ...(after.is === undefined ? {} : { after: after.is }),
    shape: 'scalar',
  };
}
