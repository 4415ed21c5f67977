/**
 * Why the service will refuse to delete a workspace in its current state (wire/workspaces 2.6), what a plain delete would lose,
 * and what a forced deletion overrides, which the plan shows so that it is approved.
 */
import { encodeBrackets } from '../../api/read-pages.ts';
import { relatedId, rightsOf, type WorkspaceItem } from '../../api/workspaces/workspace.ts';
import { notReturned } from '../../compare/diff.ts';
import type { Action } from '../../model/change.ts';
import { type Answer, describeAnswer, WireError } from '../../model/http.ts';
import { isJsonObject, type Json, memberOf } from '../../model/json.ts';
import type { Overridden, Session } from '../../model/kind.ts';
import { counted } from '../../model/quoted.ts';
import { holdsLock, reasonSuffix } from './lock.ts';
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

const plainNotAllowed = 'the service has no safe delete, and the target does not set "deletes: plain"';

/** Without a safe delete, only workspaces that certainly manage nothing may be deleted, and only if the target allows it. */
function unsafe({ facts }: LiveWorkspace): string[] {
  if (facts.hasSafeDelete !== false) return [];
  if (facts.plainDeletes !== true) return [plainNotAllowed];
  if (typeof facts.resourceCount !== 'number')
    return [
      'the service does not report how many resources it manages, and has no safe delete that would check',
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

/** A removal request with `force` overrides the setting of its target, once that was approved. */
function overriddenTarget({ facts }: LiveWorkspace): Overridden[] {
  if (facts.hasSafeDelete !== false || facts.plainDeletes === true) return [];
  return [{ field: { ...overrides('deletes'), after: 'plain' }, message: plainNotAllowed }];
}

/** An unknown number of resources counts as overridden, too. */
function overriddenState({ facts }: LiveWorkspace): Overridden[] {
  const count = facts.resourceCount;
  const field = overrides('resources');
  if (typeof count !== 'number') {
    const message = 'the number of resources it manages is unknown, and it loses their state';
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

/** For a service that does not count resources: only the states show what would be lost. */
function lostState(why: string): Overridden {
  return {
    field: { ...overrides('state'), unknown: notReturned },
    message: `${why}, and it loses its state`,
  };
}

function overriddenLock(live: LiveWorkspace, record: WorkspaceRecord | undefined): Overridden[] {
  if (!isForeign(live, record)) return [];
  const { lockedBy, lockedReason } = live.facts;
  const holder = isJsonObject(lockedBy) ? `${lockedBy.type} ${lockedBy.id}` : 'unknown';
  const field = { ...overrides('lock'), before: [holder, lockedReason ?? ''], shape: 'list' } as const;
  return [{ field, message: `it is locked${reasonSuffix(live)}, and not by this stack` }];
}

/**
 * Whether the document of a workspace shows that it never had a state: it has no current state and no run, and nothing has changed
 * since its settings were written. A plan relies on that; just before the delete the states are read in any case.
 */
export function showsNoState(item: WorkspaceItem): boolean {
  const { attributes } = item;
  const changed = attributes['latest-change-at'];
  return (
    rightsOf(item).rights?.['can-read-state-versions'] === true &&
    hasNoCurrentState(item) &&
    relatedId(item, 'current-run') === null &&
    typeof changed === 'string' &&
    (changed === attributes['updated-at'] || changed === attributes['created-at'])
  );
}

/**
 * What a plain delete of a workspace would lose, as a clause; null when it has no state, or only empty ones. A service without a
 * safe delete may not count resources, or count only those of the current state: so the states are read (wire/workspaces 4).
 */
export async function stateAtRisk(session: Session, item: WorkspaceItem): Promise<string | null> {
  if (rightsOf(item).rights?.['can-read-state-versions'] === false)
    return 'this token may not read whether it has a state';
  const workspace = `filter[workspace][name]=${encodeURIComponent(item.name)}`;
  const organization = `filter[organization][name]=${encodeURIComponent(session.target.organization ?? '')}`;
  const paths = [
    `/workspaces/${encodeURIComponent(item.id)}/current-state-version`,
    encodeBrackets(`/state-versions?${organization}&${workspace}&page[size]=1`),
  ];
  try {
    const [current, newest] = await Promise.all(paths.map((path) => session.reader.get(path)));
    return riskOf('current', current) ?? riskOf('newest', newest);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return `its states could not be read (${error.message})`;
  }
}

/** Whether the document shows that there is no current state; false if it does not say. */
function hasNoCurrentState({ relationships }: WorkspaceItem): boolean {
  return memberOf(relationships['current-state-version'], 'data') === null;
}

/** Why a state would be lost, as a clause; null for a 404 or an empty list, because then there is no state. */
function riskOf(which: 'current' | 'newest', answer: Answer | undefined): string | null {
  if (answer?.status === 404) return null;
  const data = isJsonObject(answer?.body) ? answer.body['data'] : undefined;
  if (answer?.status !== 200 || data === undefined)
    return `its ${which} state could not be read${answer === undefined ? '' : ` (${describeAnswer(answer)})`}`;
  const states = Array.isArray(data) ? (data as readonly Json[]) : data === null ? [] : [data];
  return states.every(isEmpty)
    ? null
    : `its ${which} state contains resources, or the service does not report its contents`;
}

/** A missing or unfinished list of resources proves nothing. */
function isEmpty(state: Json): boolean {
  const attributes = isJsonObject(state) ? state['attributes'] : undefined;
  if (!isJsonObject(attributes)) return false;
  const { resources, 'resources-processed': isProcessed } = attributes;
  return isProcessed === true && Array.isArray(resources) && resources.length === 0;
}
