/**
 * What a workspace that is to be created will not be, whatever its manifest says: its organization enforces health
 * assessments, its project says when it is destroyed. It is said before anybody has seen it not hold (rules 39, 40); what
 * nobody can know is told by what the creation is answered. What the service would refuse is a problem of the manifest.
 * Asked only where a manifest stands against it.
 */
import { type AddressText, formatAddress } from '../../model/resource/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { LiveSet, Session, ReadRequest } from '../../model/kind/kind.ts';
import type { DesiredResource } from '../../model/resource/resource.ts';
import { projectDuration } from '../../services/workspaces/read-project.ts';
import { enforcesAssessments } from '../../services/workspaces/read-organization.ts';
import { assessmentsStay } from './prepare/prepare-assessments.ts';
import { projectSays } from './prepare/prepare-auto-destroy.ts';
import type { WorkspaceSpec } from './schema.ts';
import type { LiveWorkspace } from './workspace-types.ts';

type Declared = DesiredResource<WorkspaceSpec>;

/** What there is to say of each declared workspace that is not among `live`. */
export async function predictCreations(
  session: Session,
  { declared, record }: ReadRequest<WorkspaceSpec>,
  live: readonly LiveWorkspace[],
): Promise<Required<Pick<LiveSet, 'foreseen' | 'impossible'>>> {
  const names = new Set(live.map(({ address }) => address.name));
  const ids = new Set(live.map(({ id }) => id));
  const isThere = ({ address, metadata: { renamedFrom = address.name } }: Declared) =>
    names.has(address.name) || names.has(renamedFrom) || ids.has(record(address)?.id ?? '');
  const made = declared.filter((one) => one.metadata.remove === undefined && !isThere(one));
  const looks = await Promise.all(
    made.map(async (one) => {
      const says = [await foreseeAssessments(session, one), await foreseeDuration(session, one, live)];
      return [formatAddress(one.address), says.flatMap((about) => about ?? [])] as const;
    }),
  );
  const only = <T>(pick: (about: Foreseen) => readonly T[]): ReadonlyMap<AddressText, readonly T[]> =>
    new Map(
      looks.flatMap(([text, says]) => {
        const picked = says.flatMap(pick);
        return picked.length === 0 ? [] : [[text, picked] as const];
      }),
    );
  return {
    foreseen: only((about) => (typeof about === 'string' ? [about] : [])),
    impossible: only((about) => (typeof about === 'string' ? [] : [about])),
  };
}

/** A sentence about what will not hold, or why nothing will be created. */
type Foreseen = string | Diagnostic;

async function foreseeAssessments(session: Session, { spec }: Declared): Promise<string | undefined> {
  const { assessmentsEnabled: declared } = spec;
  const isAgainst = declared !== undefined && declared !== true;
  return isAgainst && (await enforcesAssessments(session)) ? assessmentsStay : undefined;
}

/** A duration of its own is refused; none is what every create says that leaves it out. */
async function foreseeDuration(
  session: Session,
  one: Declared,
  live: readonly LiveWorkspace[],
): Promise<Foreseen | undefined> {
  const { autoDestroyActivityDuration: declared, projectId } = one.spec;
  const overrides = session.dialect.capabilities.has('own-auto-destroy');
  if (declared === undefined || typeof projectId !== 'string' || overrides) return undefined;
  const inheriting = live.find(
    ({ facts, spec: found }) => facts.inheritsAutoDestroy === true && found.projectId === projectId,
  );
  const inherited = inheriting?.spec.autoDestroyActivityDuration;
  const duration = typeof inherited === 'string' ? inherited : await projectDuration(session, projectId);
  if (duration === undefined || duration === declared) return undefined;
  return declared === null ? projectSays(duration) : notItsProjects(one, duration);
}

function notItsProjects({ address, spec, placeOf }: Declared, duration: string): Diagnostic {
  return {
    code: 'not-the-projects-duration',
    severity: 'error',
    class: 'invalid',
    message: `"${formatAddress(address)}" cannot be created with another duration than its project has`,
    place: placeOf(['autoDestroyActivityDuration']),
    found: String(spec.autoDestroyActivityDuration),
    allowed: `${duration}, for this dialect has no way to override it`,
    fix: 'leave autoDestroyActivityDuration out, or choose a project without one',
  };
}
