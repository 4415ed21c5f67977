/**
 * Predicts which settings a new workspace will not have: its organization may enforce health assessments. So the plan can say it before the creation (rules 39, 40); other deviations show in the answer to the
 * creation. Requests are sent only if a manifest declares something else.
 */
import { type AddressText, formatAddress } from '../../../model/resource/address.ts';
import type { Session, ReadRequest } from '../../../model/kind/kind.ts';
import { enforcesAssessments } from '../../../services/workspaces/read-organization.ts';
import { assessmentsEnforcedNote } from '../prepare/prepare-assessments.ts';
import type { WorkspaceSpec } from '../schema.ts';
import type { DeclaredWorkspace, LiveWorkspace } from '../workspace-types.ts';

/** For each declared workspace that is not in `live`: sentences about settings that it will not have. */
export async function predictCreations(
  session: Session,
  { declared, record }: ReadRequest<WorkspaceSpec>,
  live: readonly LiveWorkspace[],
): Promise<ReadonlyMap<AddressText, readonly string[]>> {
  const names = new Set(live.map(({ address }) => address.name));
  const ids = new Set(live.map(({ id }) => id));
  const isLive = ({ address, metadata: { renamedFrom = address.name } }: DeclaredWorkspace) =>
    names.has(address.name) || names.has(renamedFrom) || ids.has(record(address)?.id ?? '');
  const toCreate = declared.filter((one) => one.metadata.remove === undefined && !isLive(one));
  const predicted = await Promise.all(
    toCreate.map(async (one) => {
      const note = await predictAssessments(session, one);
      return [formatAddress(one.address), note === undefined ? [] : [note]] as const;
    }),
  );
  return new Map(predicted.filter(([, notes]) => notes.length > 0));
}

async function predictAssessments(
  session: Session,
  { spec }: DeclaredWorkspace,
): Promise<string | undefined> {
  const { assessmentsEnabled: declared } = spec;
  const isContradicted = declared !== undefined && declared !== true;
  return isContradicted && (await enforcesAssessments(session)) ? assessmentsEnforcedNote : undefined;
}
