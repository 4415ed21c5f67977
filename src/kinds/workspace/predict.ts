/**
 * Predicts what a workspace will have after the plan besides its own settings: what it inherits from its project, and health
 * assessments that its organization enforces. Requests are sent only if a manifest may change the outcome.
 */
import { enforcesAssessments, organizationMode } from '../../api/workspaces/organization.ts';
import { isManaged, projectMode, readProject, readProjectAgain } from '../../api/workspaces/projects.ts';
import { keptAssessments } from '../../api/workspaces/workspace-call.ts';
import type { WorkspaceItem } from '../../api/workspaces/workspace.ts';
import { findRenamed, recordAbout } from '../../compare/match-ids.ts';
import { type AddressText, formatAddress } from '../../model/address.ts';
import type { Json } from '../../model/json.ts';
import type { Inheritable } from '../../model/kind-specs.ts';
import type { ReadRequest, Session } from '../../model/kind.ts';
import { quoted, quotedUnlessPlain } from '../../model/quoted.ts';
import type { Dialect } from '../../model/stack.ts';
import type { WorkspaceSpec } from './schema.ts';
import {
  asReturned,
  type DeclaredWorkspace,
  type KnownWorkspace,
  type LiveWorkspace,
  type PreparedLive,
  type WorkspaceComparison,
  type WorkspaceFacts,
  type WorkspaceFields,
  type WorkspaceRecord,
} from './workspace-types.ts';
import { isDeclaration } from '../../model/resource.ts';

const assessments = 'assessmentsEnabled';

const assessmentsEnforcedNote = `the organization enforces health assessments: ${assessments} stays true`;

export function prepareAssessments({ desired, live, record, dialect }: WorkspaceComparison): PreparedLive {
  if (live !== undefined && losesAssessments(desired, live, { record, dialect })) {
    return { live: {}, notes: [needsRemote(String(modeAfter(desired, live)))] };
  }
  const isEnforced = live?.facts.assessmentsEnforced === true && live.spec[assessments] === true;
  if (!isEnforced || !wantsOff(desired, record)) return asReturned;
  return {
    live: { [assessments]: false },
    notes: [assessmentsEnforcedNote],
  };
}

/** The execution mode after the plan, own or inherited. */
function modeAfter({ executionMode: mode }: WorkspaceFields, { facts }: LiveWorkspace): Json | undefined {
  return typeof mode === 'string' ? mode : facts.modeAfter;
}

/** Whether the execution mode does not support assessments, and no manifest declares them (wire/workspaces 5.4). */
function losesAssessments(
  desired: WorkspaceFields,
  live: LiveWorkspace,
  { record, dialect }: { readonly record: WorkspaceRecord | undefined; readonly dialect: Dialect },
): boolean {
  const ends = keptAssessments(true, { mode: modeAfter(desired, live), dialect }) === undefined;
  const isUndeclared = desired[assessments] === undefined && record?.fields[assessments] === undefined;
  return ends && isUndeclared && live.spec[assessments] === true;
}

function needsRemote(mode: string): string {
  return `health assessments need the execution mode remote: with ${quotedUnlessPlain(mode)}, an update does not keep ${assessments}`;
}

/** Whether a manifest turns health assessments off, explicitly or by no longer declaring them. */
function wantsOff(spec: WorkspaceFields, record: WorkspaceRecord | undefined): boolean {
  const declared: Json | undefined = spec[assessments];
  return declared === undefined ? record?.fields[assessments] !== undefined : declared !== true;
}

// Reads what the health assessments of a workspace depend on besides its document: whether its organization enforces them, and the
// execution mode that the workspace will inherit. Requests are sent only if a manifest may change the outcome (wire/workspaces 5.4).

export interface WorkspaceReading {
  readonly item: WorkspaceItem;
  readonly live: LiveWorkspace;
  /** sentences about what could not be read of the workspace */
  readonly incomplete: readonly string[];
}

type Request = ReadRequest<WorkspaceSpec>;

/** The readings; those of workspaces with assessments get the facts that decide whether the assessments are kept. */
export async function predictAssessments(
  session: Session,
  request: Request,
  readings: readonly WorkspaceReading[],
): Promise<readonly WorkspaceReading[]> {
  const find = knownFinder(
    session,
    request,
    readings.map(({ live }) => live),
  );
  const declared = request.declared.map((one) => ({ spec: one.spec, ...find(one) }));
  return Promise.all(
    readings.map(async (reading) => {
      const { live } = reading;
      if (live.spec.assessmentsEnabled !== true) return reading;
      const known = await Promise.all(
        declared
          .filter((one) => one.live === live)
          .map(({ spec, record: recorded }) => predictedFacts(session, { spec, recorded, live })),
      );
      const facts: WorkspaceFacts = Object.assign({}, live.facts, ...known);
      return { ...reading, live: { ...live, facts } };
    }),
  );
}

async function predictedFacts(session: Session, sides: Sides): Promise<WorkspaceFacts> {
  const enforced = wantsOff(sides.spec, sides.recorded) && (await enforcesAssessments(session));
  return {
    ...(enforced ? { assessmentsEnforced: true } : {}),
    ...(await modeToInherit(session, sides)),
  };
}

interface Sides {
  readonly spec: WorkspaceSpec;
  readonly recorded: WorkspaceRecord | undefined;
  readonly live: LiveWorkspace;
}

/** The mode that the workspace will inherit, if not the current one. Not if the manifest declares assessments: then it does not matter. */
async function modeToInherit(session: Session, sides: Sides): Promise<WorkspaceFacts> {
  const { spec, live } = sides;
  const project = spec.projectId ?? live.spec.projectId;
  const isAsked = spec.assessmentsEnabled === undefined && willInherit(sides) && project !== undefined;
  const isSame = live.spec.settingOverwrites?.executionMode === false && project === live.spec.projectId;
  return isAsked && !isSame ? { modeAfter: (await projectMode(session, project)) ?? null } : {};
}

/** Whether the workspace will inherit its mode. The manifest decides, else the reset of an undeclared field, else the live value. */
export function willInherit({ spec, recorded, live }: Sides): boolean {
  if (spec.executionMode !== undefined) return spec.executionMode === null;
  const own = spec.settingOverwrites?.executionMode;
  if (own !== undefined) return !own;
  const isReset = typeof recorded?.fields.executionMode === 'string';
  return isReset || live.spec.settingOverwrites?.executionMode === false;
}

/** Whether the workspace has its own mode and will inherit one instead. */
export function endsOwnMode(sides: Sides): boolean {
  return typeof sides.live.spec.executionMode === 'string' && willInherit(sides);
}

/**
 * For each declared workspace that is not in `live`: sentences about settings that it will not have, because its organization
 * enforces health assessments. Other deviations show in the response to the creation.
 */
export async function predictCreations(
  session: Session,
  request: Request,
  live: readonly LiveWorkspace[],
): Promise<ReadonlyMap<AddressText, readonly string[]>> {
  const find = knownFinder(session, request, live);
  const toCreate = request.declared.filter((one) => isDeclaration(one) && find(one).live === undefined);
  const predicted = await Promise.all(
    toCreate.map(async (one) => {
      const note = await predictAssessmentsNote(session, one);
      return [formatAddress(one.address), note === undefined ? [] : [note]] as const;
    }),
  );
  return new Map(predicted.filter(([, notes]) => notes.length > 0));
}

async function predictAssessmentsNote(
  session: Session,
  { spec }: DeclaredWorkspace,
): Promise<string | undefined> {
  const { assessmentsEnabled: declared } = spec;
  const isContradicted = declared !== undefined && declared !== true;
  return isContradicted && (await enforcesAssessments(session)) ? assessmentsEnforcedNote : undefined;
}

// Predicts what a workspace inherits from its project after the plan. Projects are read only if that may change: for a workspace
// that is created, that moves, that falls back to its project's duration, or whose own local mode ends (wire/workspaces 1.5.19). A
// project that the plan itself changes also matters for a workspace whose resources could not be destroyed before.

export async function predictInherited(
  session: Session,
  request: Request,
  live: readonly LiveWorkspace[],
): Promise<ReadonlyMap<AddressText, Inheritable>> {
  const find = knownFinder(session, request, live);
  const hasProjects = live.some(({ spec }) => spec.projectId !== undefined);
  const predicted = await Promise.all(
    request.declared.filter(isDeclaration).map(async (one) => {
      const known = find(one);
      const found = known.live;
      const isAsked = mayChange(session, one.spec, known);
      if (!isAsked && !(isManaged(session) && endsPause(one.spec, known))) return [];
      const id = one.spec.projectId ?? found?.spec.projectId;
      // If there is no workspace yet, a service that does not list its projects may still have the named one.
      const mayHave = hasProjects || (live.length === 0 && id !== undefined);
      const given = await inheritableFrom(session, id, {
        hasProjects: mayHave,
        isNew: found === undefined,
      });
      const isUsed = isAsked || given?.plannedBy !== undefined;
      return given === undefined || !isUsed ? [] : [[formatAddress(one.address), given] as const];
    }),
  );
  return new Map(predicted.flat());
}

/** Whether the service destroyed nothing, because runs were local or destroy plans were not allowed, and the manifest may end that. */
function endsPause(spec: WorkspaceSpec, { live, record }: KnownWorkspace): boolean {
  if (live === undefined) return false;
  const mode = live.spec.executionMode ?? live.inherited?.['executionMode'];
  const endsLocal = mode === 'local' && typeof spec.executionMode === 'string' && spec.executionMode !== mode;
  const { allowDestroyPlan: allows } = spec;
  const isAllowed = allows === undefined ? record?.fields.allowDestroyPlan !== undefined : allows !== false;
  return endsLocal || (live.spec.allowDestroyPlan === false && isAllowed);
}

/** Finds what is known about a declared workspace, with a plan's rules for matching names, former names, records and ids. */
export function knownFinder(
  session: Session,
  { declared, records, record }: Request,
  live: readonly LiveWorkspace[],
): (one: DeclaredWorkspace) => KnownWorkspace {
  const byAddress = new Map(live.map((one) => [formatAddress(one.address), one]));
  const placed = declared.filter((one) => isDeclaration(one) || one.metadata.movedTo !== undefined);
  const { movedAway } = session.known?.('Workspace') ?? {};
  const renamed = findRenamed({
    placed: new Map(placed.map((one) => [formatAddress(one.address), one])),
    live: byAddress,
    recordedId: (text) => records.get(text)?.id ?? movedAway?.get(text)?.id,
    isRenamable: () => true,
  });
  return ({ address }) => {
    const text = formatAddress(address);
    const found = byAddress.get(renamed.get(text) ?? text);
    const recorded =
      found?.id === undefined ? record(address) : recordAbout(records, { address, id: found.id });
    return { live: found, record: recorded };
  };
}

function mayChange({ dialect }: Session, spec: WorkspaceSpec, { live, record }: KnownWorkspace): boolean {
  if (live === undefined) return true;
  if (spec.projectId !== undefined && spec.projectId !== live.spec.projectId) return true;
  // While runs were local, nothing was destroyed.
  const endsLocal = live.spec.executionMode === 'local' && endsOwnMode({ spec, recorded: record, live });
  if (endsLocal) return true;
  const declared = spec.autoDestroyActivityDuration;
  const isReset = declared === undefined && record?.fields.autoDestroyActivityDuration !== undefined;
  const fallsBack = (declared === null || isReset) && live.facts.inheritsAutoDestroy !== true;
  return (
    fallsBack &&
    typeof live.spec.autoDestroyActivityDuration === 'string' &&
    !dialect.capabilities.has('own-auto-destroy')
  );
}

/** Undefined if the service has no projects. */
async function inheritableFrom(
  session: Session,
  id: string | undefined,
  { hasProjects, isNew }: { readonly hasProjects: boolean; readonly isNew: boolean },
): Promise<Inheritable | undefined> {
  const project = await readProject(session, id);
  if (project === 'none') {
    return hasProjects ? unreadable(id, 'the service does not list its projects') : undefined;
  }
  if (!isNew && id === undefined)
    return { ...unreadable(id, 'the service does not say which one it is'), from: 'its project' };
  if ('unread' in project) return unreadable(id, project.unread);
  // For a new workspace, the mode of the whole organization is not shown as inherited.
  const mode = project.mode ?? (isNew ? undefined : await organizationMode(session));
  return {
    // The text for a declared project must be the same before and after the plan has created it.
    from: `project ${quoted(project.name)}${project.declared === undefined ? ` (${project.id})` : ''}`,
    // A project that the plan creates cannot be read again.
    ...(project.declared === 'new' ? {} : { id: project.id }),
    ...(project.plannedBy === undefined ? {} : { plannedBy: project.plannedBy }),
    values: {
      autoDestroyActivityDuration: project.duration,
      ...(mode === undefined ? {} : { executionMode: mode }),
    },
  };
}

/** The current values of the project, or of its organization for a project without an execution mode. */
export async function readInheritable(session: Session, planned: Inheritable): Promise<Inheritable> {
  const { id = '', from, values } = planned;
  // Some services have only the list of projects, and no read by id.
  const project = (await readProjectAgain(session, id)) ?? (await readProject(session, id));
  if (project === 'none') return { from, values: {}, unread: 'the service does not list its projects' };
  if ('unread' in project) return { from, values: {}, unread: project.unread };
  const isAsked = values['executionMode'] !== undefined;
  const mode = project.mode ?? (isAsked ? await organizationMode(session) : undefined);
  return {
    ...planned,
    values: {
      autoDestroyActivityDuration: project.duration,
      ...(mode === undefined ? {} : { executionMode: mode }),
    },
  };
}

function unreadable(id: string | undefined, unread: string): Inheritable {
  return { from: id === undefined ? 'the default project' : `project ${quoted(id)}`, values: {}, unread };
}
