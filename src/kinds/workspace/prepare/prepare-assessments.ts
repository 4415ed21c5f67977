/**
 * Health assessments in an organization that enforces them: the workspace's own setting is hidden then, so it cannot be
 * verified. Every plan notes that they stay on (wire/workspaces 5.4).
 */
import type { Json } from '../../../model/json/json.ts';
import type { Dialect } from '../../../model/stack/target.ts';
import { quotedUnlessPlain } from '../../../model/quoted.ts';
import { keptAssessments } from '../../../services/workspaces/workspace-body.ts';
import type {
  LiveWorkspace,
  WorkspaceFields,
  WorkspaceComparison,
  WorkspaceRecord,
} from '../workspace-types.ts';
import { asReturned, type PreparedLive } from './prepared-live.ts';

const name = 'assessmentsEnabled';

export const assessmentsEnforcedNote = `the organization enforces health assessments: ${name} stays true`;

export function prepareAssessments({ desired, live, record, dialect }: WorkspaceComparison): PreparedLive {
  if (live !== undefined && losesAssessments(desired, live, { record, dialect })) {
    return { live: {}, notes: [needsRemote(String(modeAfter(desired, live)))] };
  }
  const isEnforced = live?.facts.assessmentsEnforced === true && live.spec[name] === true;
  if (!isEnforced || !wantsOff(desired, record)) return asReturned;
  return {
    live: { [name]: false },
    notes: [assessmentsEnforcedNote],
  };
}

/** The execution mode that it will have, its own or an inherited one. */
function modeAfter({ executionMode: mode }: WorkspaceFields, { facts }: LiveWorkspace): Json | undefined {
  return typeof mode === 'string' ? mode : facts.modeAfter;
}

/** Whether the execution mode has no assessments, and no manifest declares them (wire/workspaces 5.4). */
function losesAssessments(
  desired: WorkspaceFields,
  live: LiveWorkspace,
  { record, dialect }: { readonly record: WorkspaceRecord | undefined; readonly dialect: Dialect },
): boolean {
  const ends = keptAssessments(true, { mode: modeAfter(desired, live), dialect }) === undefined;
  const isUndeclared = desired[name] === undefined && record?.fields[name] === undefined;
  return ends && isUndeclared && live.spec[name] === true;
}

function needsRemote(mode: string): string {
  return `health assessments need the execution mode remote: with ${quotedUnlessPlain(mode)}, an update does not keep ${name}`;
}

/** Whether a manifest turns them off, explicitly or by no longer declaring them. */
export function wantsOff(spec: WorkspaceFields, record: WorkspaceRecord | undefined): boolean {
  const declared: Json | undefined = spec[name];
  return declared === undefined ? record?.fields[name] !== undefined : declared !== true;
}
