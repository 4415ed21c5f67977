/**
 * Predicts which settings a new workspace will not have: its organization may enforce health assessments, its project may set
 * when it is destroyed. So the plan can say it before the creation (rules 39, 40); other deviations show in the answer to the
 * creation. Requests are sent only if a manifest declares something else.
 */
import { type AddressText, formatAddress } from '../../../model/resource/address.ts';
import type { Session, ReadRequest } from '../../../model/kind/kind.ts';
import type { DesiredResource } from '../../../model/resource/resource.ts';
import { projectDuration } from '../../../services/workspaces/read-project.ts';
import { enforcesAssessments } from '../../../services/workspaces/read-organization.ts';
import { assessmentsEnforcedNote } from '../prepare/prepare-assessments.ts';
import { projectDurationNote } from '../prepare/prepare-auto-destroy.ts';
import type { WorkspaceSpec } from '../schema.ts';
import type { LiveWorkspace } from '../workspace-types.ts';

type Declared = DesiredResource<WorkspaceSpec>;

/** For each declared workspace that is not in `live`: sentences about settings that it will not have. */
export async function predictCreations(
  session: Session,
  { declared, record }: ReadRequest<WorkspaceSpec>,
  live: readonly LiveWorkspace[],
): Promise<ReadonlyMap<AddressText, readonly string[]>> {
  const names = new Set(live.map(({ address }) => address.name));
  const ids = new Set(live.map(({ id }) => id));
  const isLive = ({ address, metadata: { renamedFrom = address.name } }: Declared) =>
    names.has(address.name) || names.has(renamedFrom) || ids.has(record(address)?.id ?? '');
  const toCreate = declared.filter((one) => one.metadata.remove === undefined && !isLive(one));
  const predicted = await Promise.all(
    toCreate.map(async (one) => {
      const notes = [await predictAssessments(session, one), await predictDuration(session, one, live)];
      return [formatAddress(one.address), notes.flatMap((note) => note ?? [])] as const;
    }),
  );
  return new Map(predicted.filter(([, notes]) => notes.length > 0));
}

async function predictAssessments(session: Session, { spec }: Declared): Promise<string | undefined> {
  const { assessmentsEnabled: declared } = spec;
  const isContradicted = declared !== undefined && declared !== true;
  return isContradicted && (await enforcesAssessments(session)) ? assessmentsEnforcedNote : undefined;
}

/** Where null inherits, a workspace that is to have no duration gets its project's. */
async function predictDuration(
  session: Session,
  one: Declared,
  live: readonly LiveWorkspace[],
): Promise<string | undefined> {
  const { autoDestroyActivityDuration: declared, projectId } = one.spec;
  const endsIt = session.dialect.capabilities.has('own-auto-destroy');
  if (declared !== null || typeof projectId !== 'string' || endsIt) return undefined;
  const inheriting = live.find(
    ({ facts, spec: found }) => facts.inheritsAutoDestroy === true && found.projectId === projectId,
  );
  const inherited = inheriting?.spec.autoDestroyActivityDuration;
  const duration = typeof inherited === 'string' ? inherited : await projectDuration(session, projectId);
  return duration === undefined ? undefined : projectDurationNote(duration);
}
