/**
 * Predicts which settings a new workspace will not have: its organization may enforce health assessments, its project may set
 * when it is destroyed. So the plan can say it before the creation (rules 39, 40); other deviations show in the answer to the
 * creation. What the service would refuse is a problem. Requests are sent only if a manifest declares something else.
 */
import { type AddressText, formatAddress } from '../../../model/resource/address.ts';
import type { Diagnostic } from '../../../model/diagnostic.ts';
import type { LiveSet, Session, ReadRequest } from '../../../model/kind/kind.ts';
import type { DesiredResource } from '../../../model/resource/resource.ts';
import { projectDuration } from '../../../services/workspaces/read-project.ts';
import { enforcesAssessments } from '../../../services/workspaces/read-organization.ts';
import { assessmentsEnforcedNote } from '../prepare/prepare-assessments.ts';
import { projectDurationNote } from '../prepare/prepare-auto-destroy.ts';
import type { WorkspaceSpec } from '../schema.ts';
import type { LiveWorkspace } from '../workspace-types.ts';

type Declared = DesiredResource<WorkspaceSpec>;

/** Predictions for each declared workspace that is not in `live`. */
export async function predictCreations(
  session: Session,
  { declared, record }: ReadRequest<WorkspaceSpec>,
  live: readonly LiveWorkspace[],
): Promise<Required<Pick<LiveSet, 'predictedNotes' | 'creationProblems'>>> {
  const names = new Set(live.map(({ address }) => address.name));
  const ids = new Set(live.map(({ id }) => id));
  const isLive = ({ address, metadata: { renamedFrom = address.name } }: Declared) =>
    names.has(address.name) || names.has(renamedFrom) || ids.has(record(address)?.id ?? '');
  const toCreate = declared.filter((one) => one.metadata.remove === undefined && !isLive(one));
  const predicted = await Promise.all(
    toCreate.map(async (one) => {
      const predictions = [await predictAssessments(session, one), await predictDuration(session, one, live)];
      return [formatAddress(one.address), predictions.flatMap((prediction) => prediction ?? [])] as const;
    }),
  );
  const only = <T>(pick: (prediction: Prediction) => readonly T[]): ReadonlyMap<AddressText, readonly T[]> =>
    new Map(
      predicted.flatMap(([text, predictions]) => {
        const picked = predictions.flatMap(pick);
        return picked.length === 0 ? [] : [[text, picked] as const];
      }),
    );
  return {
    predictedNotes: only((prediction) => (typeof prediction === 'string' ? [prediction] : [])),
    creationProblems: only((prediction) => (typeof prediction === 'string' ? [] : [prediction])),
  };
}

/** A sentence about a setting that the workspace will not have, or the problem that prevents its creation. */
type Prediction = string | Diagnostic;

async function predictAssessments(session: Session, { spec }: Declared): Promise<string | undefined> {
  const { assessmentsEnabled: declared } = spec;
  const isContradicted = declared !== undefined && declared !== true;
  return isContradicted && (await enforcesAssessments(session)) ? assessmentsEnforcedNote : undefined;
}

/** The service refuses another duration than the project's; a create without a duration is always accepted. */
async function predictDuration(
  session: Session,
  one: Declared,
  live: readonly LiveWorkspace[],
): Promise<Prediction | undefined> {
  const { autoDestroyActivityDuration: declared, projectId } = one.spec;
  const overrides = session.dialect.capabilities.has('own-auto-destroy');
  if (declared === undefined || typeof projectId !== 'string' || overrides) return undefined;
  const inheriting = live.find(
    ({ facts, spec: found }) => facts.inheritsAutoDestroy === true && found.projectId === projectId,
  );
  const inherited = inheriting?.spec.autoDestroyActivityDuration;
  const duration = typeof inherited === 'string' ? inherited : await projectDuration(session, projectId);
  if (duration === undefined || duration === declared) return undefined;
  return declared === null ? projectDurationNote(duration) : otherDuration(one, duration);
}

function otherDuration({ address, spec, placeOf }: Declared, duration: string): Diagnostic {
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
