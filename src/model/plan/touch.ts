/**
 * Who touched a resource, as the audit trail tells it (rule 50). The trail knows the resource and the action, never the field: so
 * nobody is said to have changed a field. Never a part of what is approved.
 */
import type { TrailActor } from '../audit-trail.ts';

export interface Modification {
  /** RFC 3339 */
  readonly at: string;
  readonly actor: TrailActor;
  /** type and action of the resource, in the words of the trail */
  readonly resource: { readonly type: string; readonly action: string };
  /** the event's id in the trail */
  readonly event: string;
  readonly requestId?: string;
  /** within an apply of this stack whose requests the service gave no ids for */
  readonly maybeOurs?: true;
}

export interface LastModified {
  /** newest first; our own writes are not among them */
  readonly touches: readonly Modification[];
  /** why somebody else may have touched it, too: the trail was not seen back to the last apply */
  readonly unknown?: string;
  /** milliseconds by which the clock that the times are of is ahead of the one here; absent where they agree */
  readonly clockAhead?: number;
}
