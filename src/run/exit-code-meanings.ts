/**
 * What each exit code means for users. `npm run reference` writes docs/reference/exit-codes.md from this file. It is separate from the
 * codes, so that a command does not load these texts when it starts.
 */
import type { DiagnosticCode } from '../model/diagnostic-codes.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

interface ExitCodeMeaning {
  readonly code: ExitCode;
  /** in a few words, without a full stop */
  readonly title: string;
  /** when, in full sentences */
  readonly when: string;
  /** what to do, in full sentences */
  readonly fix: string;
}

/** In ascending order. */
export const exitCodeMeanings: readonly ExitCodeMeaning[] = [
  {
    code: exitCodes.done,
    title: 'done, or nothing to do',
    when: 'The command did what it was asked for. After an apply, a second plan has verified that nothing is left to do.',
    fix: 'Nothing.',
  },
  {
    code: exitCodes.error,
    title: 'error',
    when: 'The command failed, or not everything could be read. If an apply ends with 1, its report lists what was done.',
    fix: 'Read the message. Its code is explained in the list of errors.',
  },
  {
    code: exitCodes.changesPending,
    title: 'a difference was found',
    when: 'There are changes to apply ("plan --exit-code"), two plans differ ("diff"), a login would fail ("role check"), or files are not formatted ("fmt --check").',
    fix: 'Review what the command printed.',
  },
  {
    code: exitCodes.drift,
    title: 'drift',
    when: 'Live resources differ from what was applied last, or a name now refers to another object ("drift").',
    fix: 'Revert the drift with "apply", or take it over with "accept".',
  },
  {
    code: exitCodes.stale,
    title: 'stale',
    when: 'The plan is not the approved one, or live resources have changed since the plan. Nothing was changed.',
    fix: 'Plan again, and approve the new plan.',
  },
  {
    code: exitCodes.blocked,
    title: 'blocked by a guard',
    when: 'A guard of the plan blocks and was not acknowledged. Nothing was changed.',
    fix: 'Read the guard. Acknowledge it with "--ack", or change the manifests.',
  },
  {
    code: exitCodes.partial,
    title: 'applied in part',
    when: 'Some changes were made, or may have been made, and others failed, were skipped or became stale. Or the plan after the apply still has changes.',
    fix: 'Read the report, remove the cause, and apply again. Apply continues with what is left.',
  },
  {
    code: exitCodes.invalid,
    title: 'invalid manifests',
    when: 'The stack or a manifest has an error. Nothing was changed.',
    fix: 'Correct the lines that the message names.',
  },
  {
    code: exitCodes.locked,
    title: 'locked',
    when: 'Another apply of the stack is running. Nothing was changed.',
    fix: 'Wait for it, or use "--lock-timeout". If it has ended without releasing the lock, use "trueup unlock".',
  },
  {
    code: exitCodes.conflict,
    title: 'conflict',
    when: 'A resource belongs to another stack, or a target is not the place that the ledger has recorded. Nothing was changed.',
    fix: 'Read the message. It names the owner or the place, and the ways to go on.',
  },
  {
    code: exitCodes.interrupted,
    title: 'interrupted',
    when: 'Ctrl-C, SIGTERM or a closed terminal stopped the command. No new requests are sent, requests in flight finish, and the ledger is saved.',
    fix: 'Run the command again. Apply continues with what is left.',
  },
];

/** The exit codes of errors that differ from the exit code of their class. */
export const exitCodesOfErrors: Partial<Record<DiagnosticCode, ExitCode>> = {
  'plan-elsewhere': exitCodes.stale,
  'plan-shows-other': exitCodes.stale,
  'approval-stale': exitCodes.stale,
  'approval-ended': exitCodes.stale,
  'not-approved': exitCodes.stale,
  'run-plan-differs': exitCodes.stale,
  'file-changed': exitCodes.stale,
  'guards-block': exitCodes.blocked,
  'files-partly-written': exitCodes.partial,
  'archive-address': exitCodes.invalid,
  locked: exitCodes.locked,
};
