/** Why the service will refuse to delete a workspace as it is now (specs/workspaces.md, "States and transitions"). */
import type { Action } from '../../model/change.ts';
import type { LedgerRecord } from '../../model/ledger.ts';
import type { LiveResource } from '../../model/resource.ts';
import { becauseOf, holdsLock } from './lock.ts';

/** Clauses for people, each about the workspace: "it manages 3 resources". */
export function obstacles(live: LiveResource, action: Action, record?: LedgerRecord): readonly string[] {
  return action === 'delete' ? [...managedResources(live), ...foreignLock(live, record)] : [];
}

function managedResources({ facts }: LiveResource): string[] {
  const count = facts['resourceCount'];
  if (typeof count !== 'number' || count === 0) return [];
  return [`it manages ${count} ${count === 1 ? 'resource' : 'resources'}, and a safe delete refuses that`];
}

function foreignLock(live: LiveResource, record: LedgerRecord | undefined): string[] {
  return live.facts['locked'] !== true || holdsLock(live, record) ? [] : [`it is locked${becauseOf(live)}`];
}
