/**
 * Predicts what a workspace inherits from its project after the plan. Projects are read only where that may change: for a workspace
 * that is created, that moves, or that falls back to its project's duration (wire/workspaces 1.5.19).
 */
import { type AddressText, formatAddress } from '../../../model/resource/address.ts';
import type { Inheritable } from '../../../model/kind/comparison.ts';
import type { ReadRequest, Session } from '../../../model/kind/kind.ts';
import { quoted } from '../../../model/quoted.ts';
import { organizationMode } from '../../../services/workspaces/read-organization.ts';
import { readProject } from '../../../services/workspaces/read-project.ts';
import type { WorkspaceSpec } from '../schema.ts';
import type { DeclaredWorkspace, KnownWorkspace, LiveWorkspace } from '../workspace-types.ts';

export async function predictInherited(
  session: Session,
  { declared, record }: ReadRequest<WorkspaceSpec>,
  live: readonly LiveWorkspace[],
): Promise<ReadonlyMap<AddressText, Inheritable>> {
  const find = liveFinder(record, live);
  const hasProjects = live.some(({ spec }) => spec.projectId !== undefined);
  const predicted = await Promise.all(
    declared
      .filter(({ metadata }) => metadata.remove === undefined)
      .map(async (one) => {
        const found = find(one);
        if (!mayChange(session, one.spec, { live: found, record: record(one.address) })) return [];
        const id = one.spec.projectId ?? found?.spec.projectId;
        // Without a workspace to show it, a service that does not list its projects may hide the named one.
        const mayHave = hasProjects || (live.length === 0 && id !== undefined);
        const given = await inheritableFrom(session, id, {
          hasProjects: mayHave,
          isNew: found === undefined,
        });
        return given === undefined ? [] : [[formatAddress(one.address), given] as const];
      }),
  );
  return new Map(predicted.flat());
}

/** Finds the live workspace of a declared one, by its name, its former name or the id in the ledger. */
export function liveFinder(record: ReadRequest<WorkspaceSpec>['record'], live: readonly LiveWorkspace[]) {
  const byName = new Map(live.map((one) => [one.address.name, one]));
  const byId = new Map(live.map((one) => [one.id, one]));
  return ({
    address,
    metadata: { renamedFrom = address.name },
  }: DeclaredWorkspace): LiveWorkspace | undefined =>
    byName.get(address.name) ?? byName.get(renamedFrom) ?? byId.get(record(address)?.id);
}

function mayChange({ dialect }: Session, spec: WorkspaceSpec, { live, record }: KnownWorkspace): boolean {
  if (live === undefined) return true;
  if (spec.projectId !== undefined && spec.projectId !== live.spec.projectId) return true;
  const declared = spec.autoDestroyActivityDuration;
  const isReset = declared === undefined && record?.fields.autoDestroyActivityDuration !== undefined;
  const falls = (declared === null || isReset) && live.facts.inheritsAutoDestroy !== true;
  return (
    falls &&
    typeof live.spec.autoDestroyActivityDuration === 'string' &&
    !dialect.capabilities.has('own-auto-destroy')
  );
}

/** Undefined where the service has no projects. */
async function inheritableFrom(
  session: Session,
  id: string | undefined,
  { hasProjects, isNew }: { readonly hasProjects: boolean; readonly isNew: boolean },
): Promise<Inheritable | undefined> {
  const project = await readProject(session, id);
  if (project === 'none') {
    return hasProjects ? unreadable(id, 'the service does not list its projects') : undefined;
  }
  if ('unread' in project) return unreadable(id, project.unread);
  // Of a new workspace the mode of the whole organization is no news.
  const mode = project.mode ?? (isNew ? undefined : await organizationMode(session));
  return {
    from: `project ${quoted(project.name)} (${project.id})`,
    values: {
      autoDestroyActivityDuration: project.duration,
      ...(mode === undefined ? {} : { executionMode: mode }),
    },
  };
}

function unreadable(id: string | undefined, unread: string): Inheritable {
  return { from: id === undefined ? 'the default project' : `project ${quoted(id)}`, values: {}, unread };
}
