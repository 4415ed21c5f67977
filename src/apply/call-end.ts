/** How one call of a change ended, and which of two ends is the worse one. */
import type { OutcomeKind } from '../model/plan/outcome.ts';
import type { Answer } from '../model/wire.ts';

export interface CallEnd {
  readonly kind: OutcomeKind;
  readonly detail?: string;
  readonly inDoubt?: true;
  /** answered with a refusal that could not be verified */
  readonly refused?: true;
  /** failed by its answer, but a look showed that it was carried out */
  readonly foundTrue?: true;
  /** failed by its answer, but the resource was created, and is not as desired */
  readonly isThere?: true;
  /** carried out, but the service did not keep the claim, or a part that the call wrote, too */
  readonly lost?: 'claim' | 'part' | undefined;
  /** the answer of a call that was carried out, unless it was lost */
  readonly answer?: Answer;
}

/** From best to worst. */
const severity: readonly OutcomeKind[] = ['unchanged', 'applied', 'skipped', 'stale', 'failed', 'unknown'];

/** A call that failed by its answer, but was carried out, is less severe than one that was not carried out. */
export function severityOf({ kind, foundTrue }: CallEnd): number {
  return foundTrue ? severity.indexOf('applied') + 0.5 : severity.indexOf(kind);
}

export function isDone({ kind, foundTrue }: CallEnd): boolean {
  return kind === 'applied' || foundTrue === true;
}

/** Whether it may have been carried out by a try whose request id is not known. */
export function isUnnamed(end: CallEnd): boolean {
  return isDone(end) && (end.answer === undefined || end.answer.repeated === true);
}

/** Whether the end is worse than a call that was carried out. */
export function isBroken({ kind }: CallEnd): boolean {
  return severity.indexOf(kind) > severity.indexOf('applied');
}
