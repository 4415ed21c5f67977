/**
 * Holds the manifests that would be dropped against the stack's guards about deletions (rule 33): a token that sees nothing looks the
 * same as resources that are gone.
 */
import { type Guard, guardDefaults } from '../../model/plan/guard.ts';
import { formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { Ledger } from '../../model/stack/ledger.ts';
import type { Guards } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';
import { countGuards } from '../../plan/guards/count-guards.ts';
import type { LocatedChange } from './place-taking.ts';

/** @returns the guards that block, each id with what it says */
export function guardRemovals(
  placed: readonly LocatedChange[],
  { records }: Pick<Ledger, 'records'>,
  limits: Guards,
): ReadonlyMap<Guard['id'], string> {
  const removed = placed.flatMap(({ taking: { address, path } }) => (path.length === 0 ? [address] : []));
  const recorded = [...records.keys()].map(parseAddress);
  const groups = Map.groupBy(removed, ({ kind, target }) => `${kind}/${target}`);
  const counts = [...groups.values()].flatMap((taken) => {
    const { kind = '', target = '' } = taken[0] ?? {};
    const isHere = (one: { kind: string; target: string }) => one.kind === kind && one.target === target;
    const owned = new Set([...recorded.filter(isHere), ...taken].map((address) => formatAddress(address)));
    return [{ kind, target, owned: owned.size, taken, unproven: 0, updated: [], created: 0 }];
  });
  const blocks = ({ id }: Pick<Guard, 'id'>) =>
    limits.raise?.includes(id) || (guardDefaults[id] === 'blocks' && !limits.allow?.includes(id));
  return new Map(
    countGuards(counts, limits)
      .filter(blocks)
      .map(({ id, kind, target, counted, of = counted }) => [
        id,
        `${id}: ${counted} of ${of} ${kind ?? 'resources'}${target === undefined ? '' : ` in ${quoted(target)}`}`,
      ]),
  );
}
