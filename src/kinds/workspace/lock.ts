/** Whose lock it is. Ours is only what the ledger says that we locked, and what is locked still (RULES 18). */
import { formatAddress } from '../../model/address.ts';
import type { Json } from '../../model/json.ts';
import type { MarkContext } from '../../model/kind.ts';
import type { LedgerRecord } from '../../model/ledger.ts';
import type { LiveResource } from '../../model/resource.ts';

export function holdsLock(live: LiveResource, record: LedgerRecord | undefined): boolean {
  return live.facts['locked'] === true && record?.marks?.['locked'] === true;
}

/** `{ locked: true }` once we have locked it, for as long as the manifest asks for it and it stays locked. */
export function marks({
  change,
  answers,
  desired,
  live,
  record,
}: MarkContext): Readonly<Record<string, Json>> {
  const locks = change !== undefined && answers.has(`${formatAddress(change.address)}#lock`);
  const wanted = (desired['lock'] ?? null) !== null;
  const keeps = wanted && live !== undefined && holdsLock(live, record);
  return locks || keeps ? { locked: true } : {};
}
