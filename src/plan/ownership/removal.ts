/** The verdicts about resources that are no longer declared, and what the judges of all kinds share. */
import type { Address } from '../../model/resource/address.ts';
import type { Notice } from '../../model/plan/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { ownsName } from '../../model/resource/owned-names.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import type { PlanContext } from '../context/plan-context.ts';

export type Removal =
  | {
      readonly is: 'delete';
      readonly reason: string;
      readonly remove?: 'safe' | 'force';
      readonly place?: Diagnostic['place'];
    }
  /** the claim goes, or the ledger forgets it; the resource stays */
  | { readonly is: 'release'; readonly reason: string }
  /** for a part: what this stack had set is taken back */
  | { readonly is: 'revoke'; readonly reason: string }
  | { readonly is: 'mention'; readonly mention: Notice }
  | { readonly is: 'problem'; readonly problem: Diagnostic }
  /** the ledger drops its record; nothing else */
  | { readonly is: 'forget'; readonly mention?: Notice };

export function kept(address: Address, message: string, fix?: string): Extract<Removal, { is: 'mention' }> {
  return { is: 'mention', mention: { address, message, ...(fix === undefined ? {} : { fix }) } };
}

/** The fix for a kept resource that the user wants to delete. */
export const removalRequestFix =
  'to delete it all the same, write a document for it with "metadata.remove: safe"';

/**
 * The removal, or a mention in its place where something is known to stand against the deletion. Whether the service or trueup
 * would refuse it is part of each obstacle: a service without a safe delete refuses nothing (rule 48).
 */
export function unlessHindered(context: PlanContext, live: LiveResource, removal: Removal): Removal {
  const { address } = live;
  const { blockers, overridden } = context.kind(address.kind);
  const obstacles = blockers?.(live, 'delete', context.record(address)) ?? [];
  if (obstacles.length === 0) return removal;
  const message = `to be deleted, but kept: ${obstacles.join('; ')}`;
  return overridden === undefined ? kept(address, message) : kept(address, message, forceFix);
}

const forceFix =
  'to delete it anyway, write a document for it with "metadata.remove: force", which the guard "forced-delete" stops until it is acknowledged';

/** Whether the name belongs to this stack in its target. */
export function isNameOwned(context: PlanContext, { kind, target, name }: Address): boolean {
  return ownsName(context.target(target).target, name, context.kind(kind).names);
}
