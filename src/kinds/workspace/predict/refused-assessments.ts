/**
 * Predicts that the service refuses health assessments because the workspace does not run remotely: by the mode that it has, or that
 * it comes to inherit. A mode in the manifest itself is checked offline.
 */
import type { RefusedValue, Session } from '../../../model/kind/kind.ts';
import {
  enforcesAssessments,
  isHosted,
  organizationMode,
} from '../../../services/workspaces/read-organization.ts';
import { readProject } from '../../../services/workspaces/read-project.ts';
import { refusesAssessments } from '../../../services/workspaces/workspace-body.ts';
import { needsRemote } from '../check/check-execution.ts';
import type { WorkspaceSpec } from '../schema.ts';
import type { KnownWorkspace, LiveWorkspace } from '../workspace-types.ts';
import { willInherit } from './predict-assessments.ts';

/** @param all of the organization: they show whether the service has assessments at all */
export async function refusedAssessments(
  session: Session,
  spec: WorkspaceSpec,
  { known, all }: { readonly known: KnownWorkspace; readonly all: readonly LiveWorkspace[] },
): Promise<RefusedValue[]> {
  if (spec.assessmentsEnabled !== true || typeof spec.executionMode === 'string') return [];
  const isKnown =
    all.some((one) => one.spec.assessmentsEnabled !== undefined) || (await isHosted(session)) === true;
  const mode = isKnown ? await modeAfter(session, spec, known) : undefined;
  if (mode === undefined || !refusesAssessments(mode, session.dialect)) return [];
  // The organization's own setting needs no mode.
  if (await enforcesAssessments(session)) return [];
  return [{ fields: ['assessmentsEnabled', 'executionMode', 'projectId'], ...needsRemote(mode) }];
}

/** Undefined where it could not be read. */
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
