/**
 * Predicts which declared values the service will certainly refuse, from what it reports about itself and its organization.
 * Requests are sent only if a manifest sets such a field. If an answer cannot be read, no refusal is predicted.
 */
import {
  agentPools,
  enforcesAssessments,
  isHosted,
  organizationMode,
} from '../../api/workspaces/organization.ts';
import { listProjects, readProject, readProjectById } from '../../api/workspaces/projects.ts';
import { refusesAssessments } from '../../api/workspaces/workspace-call.ts';
import { type AddressText, formatAddress } from '../../model/address.ts';
import { WireError } from '../../model/http.ts';
import { isJsonObject, sameJson } from '../../model/json.ts';
import type { ReadRequest, RefusedValue, Session } from '../../model/kind.ts';
import { addressInsteadOfId } from '../../model/named-reference.ts';
import { quoted } from '../../model/quoted.ts';
import { needsRemote } from './check-execution.ts';
import { notOnHosted } from './check.ts';
import { knownFinder, willInherit } from './predict.ts';
import type { WorkspaceSpec } from './schema.ts';
import { isFilled, refusedFileTriggers } from './triggers.ts';
import type { KnownWorkspace, LiveWorkspace } from './workspace-types.ts';
import { isDeclaration } from '../../model/resource.ts';

export async function predictRefusals(
  session: Session,
  request: ReadRequest<WorkspaceSpec>,
  live: readonly LiveWorkspace[],
): Promise<ReadonlyMap<AddressText, readonly RefusedValue[]>> {
  const find = knownFinder(session, request, live);
  const derived = live.find(({ facts }) => facts.fileTriggersDerived !== undefined)?.facts
    .fileTriggersDerived;
  const wanted = request.declared.filter(isDeclaration);
  const refused = await Promise.all(
    wanted.map(async (one) => {
      const { spec } = one;
      const known = find(one);
      const values = [
        ...(await retentionOnHosted(session, spec)),
        ...(await missingPool(session, spec, known.live)),
        ...(await missingProject(session, spec, known.live)),
        ...(await refusedAssessments(session, spec, { known, all: live })),
        ...(derived === undefined
          ? idlePatterns(session, spec, known.live)
          : refusedFileTriggers(spec, known, derived)),
      ];
      return [formatAddress(one.address), values] as const;
    }),
  );
  return new Map(refused.filter(([, values]) => values.length > 0));
}

/** The hosted edition has no retention policies. */
async function retentionOnHosted(session: Session, spec: WorkspaceSpec): Promise<RefusedValue[]> {
  const isSet = isJsonObject(spec.dataRetentionPolicy);
  return isSet && (await isHosted(session)) === true
    ? [{ fields: ['dataRetentionPolicy'], ...notOnHosted }]
    : [];
}

/** A pool that the organization does not have. For an unchanged pool, the list of pools is not read. */
async function missingPool(
  session: Session,
  { agentPoolId: pool }: WorkspaceSpec,
  live: LiveWorkspace | undefined,
): Promise<RefusedValue[]> {
  if (typeof pool !== 'string' || live?.spec.agentPoolId === pool) return [];
  const pools = await agentPools(session);
  if (pools === undefined || pools.has(pool)) return [];
  const { organization = '' } = session.target;
  return [
    {
      fields: ['agentPoolId'],
      code: 'foreign-agent-pool',
      message: `the organization ${quoted(organization)} has no agent pool ${quoted(pool)}, as far as this token can read`,
      fix: 'write the id of an agent pool of this organization, or let the token read its agent pools',
    },
  ];
}

/**
 * A project that neither a complete list nor a read by id returns. A list without any project, or one that cannot be read, proves
 * nothing: each organization has a default project.
 */
async function missingProject(
  session: Session,
  { projectId: id }: WorkspaceSpec,
  live: LiveWorkspace | undefined,
): Promise<RefusedValue[]> {
  if (typeof id !== 'string' || addressInsteadOfId(id) !== undefined || live?.spec.projectId === id)
    return [];
  const { items, byId, isMissing, problem } = await listProjects(session);
  if (isMissing || problem !== undefined || items.length === 0 || byId.has(id)) return [];
  if (!(await isProjectGone(session, id))) return [];
  const { organization = '' } = session.target;
  return [
    {
      fields: ['projectId'],
      code: 'unknown-reference',
      message: `the organization ${quoted(organization)} has no project ${quoted(id)}: its list of projects does not have it, and it is not found by its id`,
      fix: 'write the id of a project of this organization, or let the token read this project',
    },
  ];
}

function isProjectGone(session: Session, id: string): Promise<boolean> {
  return session.once(`missing project ${id}`, async () => {
    try {
      return (await readProjectById(session, id)) === undefined;
    } catch (error) {
      if (error instanceof WireError) return false;
      throw error;
    }
  });
}

/** Some services refuse a request that sets patterns and turns file triggers off; in two requests, they accept both. */
function idlePatterns(
  { dialect }: Session,
  { triggerPatterns: patterns, fileTriggersEnabled }: WorkspaceSpec,
  live: LiveWorkspace | undefined,
): RefusedValue[] {
  if (!dialect.capabilities.has('patterns-need-file-triggers')) return [];
  if (patterns === undefined || !isFilled(patterns) || fileTriggersEnabled !== false) return [];
  const { triggerPatterns, fileTriggersEnabled: before } = live?.spec ?? {};
  if (sameJson(triggerPatterns, patterns) || before === false) return [];
  return [
    {
      fields: ['triggerPatterns'],
      code: 'two-triggers',
      message:
        '"triggerPatterns" must not be set together with "fileTriggersEnabled: false", with which each push starts a run',
      fix: 'remove one of the two: patterns have no effect while file triggers are off',
    },
  ];
}

/**
 * Predicts that the service refuses health assessments because the workspace does not run remotely, by its current mode or the one
 * that it will inherit. A mode in the manifest itself is checked offline.
 * @param sides.all all workspaces of the organization, which show whether the service has assessments at all
 */
async function refusedAssessments(
  session: Session,
  spec: WorkspaceSpec,
  { known, all }: { readonly known: KnownWorkspace; readonly all: readonly LiveWorkspace[] },
): Promise<RefusedValue[]> {
  if (spec.assessmentsEnabled !== true || typeof spec.executionMode === 'string') return [];
  const isKnown =
    all.some((one) => one.spec.assessmentsEnabled !== undefined) || (await isHosted(session)) === true;
  const mode = isKnown ? await modeAfter(session, spec, known) : undefined;
  if (mode === undefined || !refusesAssessments(mode, session.dialect)) return [];
  // Assessments that the organization enforces need no mode.
  if (await enforcesAssessments(session)) return [];
  return [{ fields: ['assessmentsEnabled', 'executionMode', 'projectId'], ...needsRemote(mode) }];
}

/** The execution mode after the plan; undefined if it could not be read. */
async function modeAfter(
  session: Session,
  spec: WorkspaceSpec,
  { live, record }: KnownWorkspace,
): Promise<string | undefined> {
  const inherits = live === undefined || willInherit({ spec, recorded: record, live });
  const stays = live !== undefined && (spec.projectId ?? live.spec.projectId) === live.spec.projectId;
  const inherited = live?.spec.settingOverwrites?.executionMode === false;
  if (!inherits || (stays && inherited)) return live?.facts.effectiveMode;
  const project = await readProject(session, spec.projectId ?? live?.spec.projectId);
  if (project === 'none' || 'unread' in project) return undefined;
  return project.mode ?? organizationMode(session);
}
