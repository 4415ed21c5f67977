/**
 * Why the service will refuse to delete a workspace in its current state (wire/workspaces 2.6), and what a forced deletion
 * overrides, which the plan shows so that it is approved.
 */
import type { Action } from '../../model/plan/change.ts';
import { counted } from '../../model/counted.ts';
import { isJsonObject } from '../../model/json/json.ts';
import type { Overridden } from '../../model/kind/kind.ts';
import { notReturned } from '../../compare/diff.ts';
import { reasonSuffix, holdsLock } from './lock.ts';
import type { LiveWorkspace, WorkspaceRecord } from './workspace-types.ts';

/** Clauses about the workspace: "it manages 3 resources". */
export function blockers(live: LiveWorkspace, action: Action, record?: WorkspaceRecord): readonly string[] {
  if (action !== 'delete') return [];
  return [...managedResources(live), ...unsafe(live), ...foreignLock(live, record)];
}

function managedResources({ facts }: LiveWorkspace): string[] {
  const count = facts.resourceCount;
  if (typeof count !== 'number' || count === 0) return [];
  const why =
    facts.hasSafeDelete === false ? 'a plain delete would lose their state' : 'a safe delete refuses that';
  return [`it manages ${counted(count, 'resource')}, and ${why}`];
}

export function deletesUnguarded({ facts }: LiveWorkspace): boolean {
  return facts.hasSafeDelete === false;
}

const plainNotAllowed = 'the service has no safe delete, and its target does not say "deletes: plain"';

/** Without a safe delete only what the target allows, and only what certainly manages nothing (rule 48). */
function unsafe({ facts }: LiveWorkspace): string[] {
  if (facts.hasSafeDelete !== false) return [];
  if (facts.plainDeletes !== true) return [plainNotAllowed];
  if (typeof facts.resourceCount !== 'number')
    return [
      'the service does not tell how many resources it manages, and has no safe delete that would look',
    ];
  return typeof facts.stateAtRisk === 'string'
    ? [`${facts.stateAtRisk}, and a plain delete would lose it`]
    : [];
}

function foreignLock(live: LiveWorkspace, record: WorkspaceRecord | undefined): string[] {
  return isForeign(live, record) ? [`it is locked${reasonSuffix(live)}`] : [];
}

function isForeign(live: LiveWorkspace, record: WorkspaceRecord | undefined): boolean {
  return live.facts.locked === true && !holdsLock(live, record);
}

export function overridden(live: LiveWorkspace, record?: WorkspaceRecord): readonly Overridden[] {
  return [...overriddenState(live), ...overriddenLock(live, record), ...overriddenTarget(live)];
}

const overrides = (name: string) => ({ path: ['overrides', name], shape: 'scalar' }) as const;

/** A tombstone with force stands above what its target does not allow, once somebody agreed to it (rule 48). */
function overriddenTarget({ facts }: LiveWorkspace): Overridden[] {
  if (facts.hasSafeDelete !== false || facts.plainDeletes === true) return [];
  return [{ field: { ...overrides('deletes'), after: 'plain' }, message: plainNotAllowed }];
}

/** An unknown number of resources counts as overridden, too. */
function overriddenState({ facts }: LiveWorkspace): Overridden[] {
  const count = facts.resourceCount;
  const field = overrides('resources');
  if (typeof count !== 'number') {
    const message = 'nobody can tell how many resources it manages, and it loses their state';
    return [{ field: { ...field, unknown: notReturned }, message }];
  }
  if (count === 0) return typeof facts.stateAtRisk === 'string' ? [lostState(facts.stateAtRisk)] : [];
  return [
    {
      field: { ...field, before: count },
      message: `it manages ${counted(count, 'resource')}, and loses their state`,
    },
  ];
}

/** Where nobody but the states themselves tells (rule 48). */
function lostState(why: string): Overridden {
  return {
    field: { ...overrides('state'), unknown: notReturned },
    message: `${why}, and it loses its state`,
  };
}

function overriddenLock(live: LiveWorkspace, record: WorkspaceRecord | undefined): Overridden[] {
  if (!isForeign(live, record)) return [];
  const { lockedBy, lockedReason } = live.facts;
  const holder = isJsonObject(lockedBy) ? `${lockedBy.type} ${lockedBy.id}` : 'nobody tells who';
  const field = { ...overrides('lock'), before: [holder, lockedReason ?? ''], shape: 'list' } as const;
  return [{ field, message: `it is locked${reasonSuffix(live)}, and not by this stack` }];
}
