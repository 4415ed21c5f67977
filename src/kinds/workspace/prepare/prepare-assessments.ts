/**
 * Health assessments under an organization that enforces them: what the workspace itself says does not show then, so
 * nothing that is sent could ever be seen to hold. That they stay on is said, with every plan (wire/workspaces 5.4).
 */
import type { Json } from '../../../model/json/json.ts';
import type { WorkspaceFields, WorkspaceMeeting, WorkspaceRecord } from '../workspace-types.ts';
import { asAnswered, type PreparedLive } from './prepared-live.ts';

const name = 'assessmentsEnabled';

export const assessmentsStay = `the organization enforces health assessments: ${name} stays true`;

export function prepareAssessments({ desired, live, record }: WorkspaceMeeting): PreparedLive {
  const isEnforced = live?.facts.assessmentsEnforced === true && live.spec[name] === true;
  if (!isEnforced || !wantsNone(desired, record)) return asAnswered;
  return {
    live: { [name]: false },
    notes: [assessmentsStay],
  };
}

/** Whether a manifest asks for them to be off, in so many words or by no longer mentioning what it had set. */
export function wantsNone(spec: WorkspaceFields, record: WorkspaceRecord | undefined): boolean {
  const declared: Json | undefined = spec[name];
  return declared === undefined ? record?.fields[name] !== undefined : declared !== true;
}
