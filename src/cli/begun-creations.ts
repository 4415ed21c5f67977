/**
 * What an apply that never ended had begun to create (RULES 24): the newest entries of the history, as far back as none
 * has ended. They say it only of targets that are still the place they were.
 */
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Registry } from '../model/kind.ts';
import type { HistoryStore, Ledger } from '../model/ledger.ts';
import type { DesiredResource } from '../model/resource.ts';
import type { Stack } from '../model/target.ts';
import { formatIdentity, identityOf } from '../model/target-identity.ts';

export interface Asking {
  readonly stack: Stack;
  readonly kinds: Registry;
  readonly resources: readonly DesiredResource[];
  readonly ledger: Ledger;
}

/** More tries of one apply than anybody makes before looking. */
const mostTries = 20;

/** Asks the store only where something declared bears no mark and has no record. @throws LedgerError */
export async function begunCreations(
  store: Pick<HistoryStore, 'listEntries'>,
  { stack, kinds, resources, ledger }: Asking,
): Promise<ReadonlySet<AddressText>> {
  const isInQuestion = ({ address }: DesiredResource) =>
    kinds.get(address.kind)?.ownership.by === 'ledger' && !ledger.records.has(formatAddress(address));
  if (!ledger.known || !resources.some(isInQuestion)) return new Set();
  const entries = await store.listEntries(mostTries);
  const ended = entries.findIndex((entry) => entry.ended !== undefined || entry.stack !== stack.name);
  const begun = entries
    .slice(0, ended === -1 ? entries.length : ended)
    .flatMap(({ changes }) => changes.filter(({ action }) => action === 'create'));
  return new Set(begun.map(({ address }) => address).filter((text) => isWhereItWas(text, stack, ledger)));
}

function isWhereItWas(text: AddressText, { targets }: Stack, ledger: Ledger): boolean {
  const name = parseAddress(text).target;
  const target = targets.find((one) => one.name === name);
  return target !== undefined && ledger.targets?.get(name) === formatIdentity(identityOf(target));
}
