/** What the service will refuse about a workspace as it is now (specs/workspaces.md, "States and transitions"). */
import type { Action } from '../../model/change.ts';
import { isJsonObject } from '../../model/json.ts';
import type { LedgerRecord } from '../../model/ledger.ts';
import type { LiveResource } from '../../model/resource.ts';
import { holdsLock } from './lock.ts';

/** Clauses for people, each about the workspace: "it manages 3 resources". */
export function obstacles(live: LiveResource, action: Action, record?: LedgerRecord): readonly string[] {
  switch (action) {
    case 'delete':
      return [...managedResources(live), ...foreignLock(live, record)];
    case 'adopt':
    case 'update':
    case 'release':
      return withoutPermission(live);
    case 'create':
    case 'none':
      return [];
  }
}

function managedResources({ facts }: LiveResource): string[] {
  const count = facts['resourceCount'];
  if (typeof count !== 'number' || count === 0) return [];
  return [`it manages ${count} ${count === 1 ? 'resource' : 'resources'}, and a safe delete refuses that`];
}

function foreignLock(live: LiveResource, record: LedgerRecord | undefined): string[] {
  if (live.facts['locked'] !== true || holdsLock(live, record)) return [];
  const reason = live.facts['lockedReason'];
  return [`it is locked${typeof reason === 'string' && reason !== '' ? ` ("${reason}")` : ''}`];
}

/** The permissions of a document are those of the token that read it (RULES 30). */
function withoutPermission({ facts }: LiveResource): string[] {
  const permissions = facts['permissions'];
  const denied = isJsonObject(permissions) && permissions['can-update'] === false;
  return denied ? ['this token may not change its settings (can-update)'] : [];
}
