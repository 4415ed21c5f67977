/**
 * Reads what health assessments depend on outside of the workspace: whether its organization enforces them, and the execution
 * mode that it will inherit. Requests are sent only if a manifest may change the outcome (rule 13, wire/workspaces 5.4).
 */
import type { ReadRequest, Session } from '../../../model/kind/kind.ts';
import { enforcesAssessments } from '../../../services/workspaces/read-organization.ts';
import { projectMode } from '../../../services/workspaces/read-project.ts';
import type { WorkspaceItem } from '../../../services/workspaces/workspace-item.ts';
import { wantsOff } from '../prepare/prepare-assessments.ts';
import type { WorkspaceSpec } from '../schema.ts';
import type {
  DeclaredWorkspace,
  LiveWorkspace,
  WorkspaceFacts,
  WorkspaceRecord,
} from '../workspace-types.ts';

export interface WorkspaceReading {
  readonly item: WorkspaceItem;
  readonly live: LiveWorkspace;
  /** what could not be read of it */
  readonly incomplete: readonly string[];
}

type Request = ReadRequest<WorkspaceSpec>;

/** The readings, those of workspaces with assessments with the facts that decide what becomes of these. */
export async function predictAssessments(
  session: Session,
  request: Request,
  readings: readonly WorkspaceReading[],
): Promise<readonly WorkspaceReading[]> {
  return Promise.all(
    readings.map(async (reading) => {
      const { live } = reading;
      if (live.spec.assessmentsEnabled !== true) return reading;
      const declared = request.declared.filter((one) => isAbout(one, live, request));
      const known = await Promise.all(declared.map((one) => predictedFacts(session, request, one, live)));
      const facts: WorkspaceFacts = Object.assign({}, live.facts, ...known);
      return { ...reading, live: { ...live, facts } };
    }),
  );
}

/** Whether a manifest is about this workspace, by its name, its former name or the id in the ledger. */
function isAbout(
  { address, metadata }: DeclaredWorkspace,
  { address: found, id }: LiveWorkspace,
  { record }: Request,
) {
  return [address.name, metadata.renamedFrom].includes(found.name) || record(address)?.id === id;
}

async function predictedFacts(
  session: Session,
  { record }: Request,
  { address, spec }: DeclaredWorkspace,
  live: LiveWorkspace,
): Promise<WorkspaceFacts> {
  const recorded = record(address);
  const enforced = wantsOff(spec, recorded) && (await enforcesAssessments(session));
  return {
    ...(enforced ? { assessmentsEnforced: true } : {}),
    ...(await modeToInherit(session, { spec, recorded, live })),
  };
}

interface Sides {
  readonly spec: WorkspaceSpec;
  readonly recorded: WorkspaceRecord | undefined;
  readonly live: LiveWorkspace;
}

/** The mode that it will inherit, if not the present one. Empty also where nobody asks: the manifest declares the assessments. */
async function modeToInherit(session: Session, sides: Sides): Promise<WorkspaceFacts> {
  const { spec, live } = sides;
  const project = spec.projectId ?? live.spec.projectId;
  const isAsked = spec.assessmentsEnabled === undefined && willInherit(sides) && project !== undefined;
  const isSame = live.spec.settingOverwrites?.executionMode === false && project === live.spec.projectId;
  return isAsked && !isSame ? { modeAfter: (await projectMode(session, project)) ?? null } : {};
}

/** What the manifest says; else the default that a field gets which it says no more; else what is live. */
export function willInherit({ spec, recorded, live }: Sides): boolean {
  if (spec.executionMode !== undefined) return spec.executionMode === null;
  const own = spec.settingOverwrites?.executionMode;
  if (own !== undefined) return !own;
  const isReset = typeof recorded?.fields.executionMode === 'string';
  return isReset || live.spec.settingOverwrites?.executionMode === false;
}
