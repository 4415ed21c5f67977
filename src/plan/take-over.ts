/**
 * A stack that goes on under another name (RULES 44): what the ledger of its former name proves comes along, except where
 * its target was another place. Pure.
 */
import { type Address, type AddressText, parseAddress } from '../model/address.ts';
import type { Ledger, LedgerRecord } from '../model/ledger.ts';
import type { LiveResource } from '../model/resource.ts';
import type { Stack, Target } from '../model/target.ts';
import { formatIdentity, type IdentityText, identityOf } from '../model/target-identity.ts';
import { identitiesAfter } from './moved-targets.ts';
import type { FormerStack, Scene } from './scene.ts';

export interface TakenOver {
  readonly ledger: Ledger;
  readonly former: FormerStack;
}

/** @param former as it was found; where there was none, nothing comes along */
export function takeOver(
  own: Ledger,
  former: Ledger,
  stack: Pick<Stack, 'renamedFrom' | 'targets'>,
): TakenOver {
  const targets = identitiesAfter(
    own,
    stack.targets.filter(({ name }) => !own.targets?.has(name)),
  );
  const unknown = [...former.records].filter(([text]) => !own.records.has(text));
  const mine = unknown.filter(([text]) => isSamePlace(text, { targets, former, stack }));
  const { closedFor: _, ...rest } = own;
  return {
    ledger: {
      ...rest,
      known: own.known || former.known,
      records: new Map<AddressText, LedgerRecord>([...mine, ...own.records]),
      targets: new Map([...(former.targets ?? []), ...targets]),
      ...commitOf(own, former),
    },
    former: {
      name: stack.renamedFrom ?? '',
      hasLedger: former.known,
      records: new Set(mine.map(([text]) => text)),
      elsewhere: unknown.length - mine.length,
    },
  };
}

function commitOf({ commit = undefined }: Ledger, former: Ledger): Pick<Ledger, 'commit'> {
  const known = commit ?? former.commit;
  return known === undefined ? {} : { commit: known };
}

interface Places {
  readonly targets: ReadonlyMap<string, IdentityText>;
  readonly former: Ledger;
  readonly stack: { readonly targets: readonly Target[] };
}

/** A former ledger without identities is taken for today's, as one's own is (RULES 37). */
function isSamePlace(text: AddressText, { targets, former, stack }: Places): boolean {
  const name = parseAddress(text).target;
  const today = stack.targets.find((target) => target.name === name);
  const was = former.targets?.get(name) ?? (today && formatIdentity(identityOf(today)));
  return was === undefined || !targets.has(name) || targets.get(name) === was;
}

/**
 * Whether a resource was the former stack's until now: its claim says so, its birth mark where it bears no claim and we
 * never recorded it, or the record that has come along.
 */
export function isTakenOver(scene: Scene, address: Address, live: LiveResource | undefined): boolean {
  const { former } = scene;
  if (former === undefined) return false;
  const recorded = scene.recordedAt(address);
  if (recorded !== undefined && former.records.has(recorded)) return true;
  const { claim, bornOf } = live?.witness ?? {};
  if (claim !== undefined) return !claim.inherited && claim.stack === former.name;
  return bornOf === former.name && scene.record(address) === undefined;
}
