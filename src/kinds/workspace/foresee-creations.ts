/**
 * What a workspace that is to be created will not be, whatever its manifest says: its organization enforces health
 * assessments, its project says when it is destroyed. It is said before anybody has seen it not hold (RULES 39, 40); what
 * nobody can know is told by what the creation is answered. Asked only where a manifest stands against it.
 */
import { type AddressText, formatAddress } from '../../model/address.ts';
import type { Session, Wanted } from '../../model/kind.ts';
import type { DesiredResource, LiveResource } from '../../model/resource.ts';
import { projectDuration } from '../../targets/workspaces/read-project.ts';
import { enforcesAssessments } from '../../targets/workspaces/read-organization.ts';
import { assessmentsStay } from './prepare-assessments.ts';
import { projectSays } from './prepare-auto-destroy.ts';

/** Sentences for each declared workspace that is not among `live`. */
export async function foreseeCreations(
  session: Session,
  { declared, record }: Wanted,
  live: readonly LiveResource[],
): Promise<ReadonlyMap<AddressText, readonly string[]>> {
  const names = new Set(live.map(({ address }) => address.name));
  const ids = new Set(live.map(({ id }) => id));
  const isThere = ({ address, metadata: { renamedFrom = address.name } }: DesiredResource) =>
    names.has(address.name) || names.has(renamedFrom) || ids.has(record(address)?.id ?? '');
  const made = declared.filter((one) => one.metadata.remove === undefined && !isThere(one));
  const foreseen = await Promise.all(
    made.map(async (one) => {
      const says = [await foreseeAssessments(session, one), await foreseeDuration(session, one, live)];
      return [formatAddress(one.address), says.flatMap((note) => note ?? [])] as const;
    }),
  );
  return new Map(foreseen.filter(([, notes]) => notes.length > 0));
}

async function foreseeAssessments(session: Session, { spec }: DesiredResource): Promise<string | undefined> {
  const { assessmentsEnabled: declared } = spec;
  const isAgainst = declared !== undefined && declared !== true;
  return isAgainst && (await enforcesAssessments(session)) ? assessmentsStay : undefined;
}

async function foreseeDuration(
  session: Session,
  { spec }: DesiredResource,
  live: readonly LiveResource[],
): Promise<string | undefined> {
  const { autoDestroyActivityDuration: declared, projectId } = spec;
  const overrides = session.dialect.capabilities.has('own-auto-destroy');
  if (declared === undefined || typeof projectId !== 'string' || overrides) return undefined;
  const inheriting = live.find(
    ({ facts, spec: found }) => facts['inheritsAutoDestroy'] === true && found['projectId'] === projectId,
  );
  const inherited = inheriting?.spec['autoDestroyActivityDuration'];
  const duration = typeof inherited === 'string' ? inherited : await projectDuration(session, projectId);
  return duration === undefined || duration === declared ? undefined : projectSays(duration);
}
