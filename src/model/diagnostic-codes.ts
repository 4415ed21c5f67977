/**
 * The catalogue of errors: every code that a diagnostic or a JSON report can have, what it means and what to do. A code that is
 * missing here does not compile. `docs/reference/errors.md` is generated from this file.
 */
import type { CodeTable } from './code-entry.ts';
import { editCodes, planCodes } from './plan-codes.ts';
import { fleetCodes } from './fleet-codes.ts';
import { kindCodes } from './kind-codes.ts';
import { ledgerCodes } from './ledger-codes.ts';
import { lintCodes } from './lint-codes.ts';
import { manifestCodes } from './manifest-codes.ts';
import { policyCodes } from './policy-codes.ts';
import { runCodes } from './run-codes.ts';

export interface CodeGroup {
  readonly title: string;
  /** when these codes occur, as a clause */
  readonly when: string;
  /** more about all of them: full sentences */
  readonly about?: string;
  readonly codes: CodeTable;
}

/** In the order of a run. */
export const codeGroups: readonly CodeGroup[] = [
  {
    title: 'Stack and manifests',
    when: 'when the stack and its manifests are read: offline, before any service is asked',
    codes: manifestCodes,
  },
  {
    title: 'Single resources',
    when: 'when a kind checks one resource: offline by its manifest, or in a plan by its live state',
    codes: kindCodes,
  },
  {
    title: 'Lint',
    when: 'by "validate" and "plan" when a manifest is valid but probably a mistake, also where nothing changes',
    about:
      'Each is a warning. List its code in "spec.lint.raise" of the stack to make it an error, or in "spec.lint.allow" to turn it off. "too-many-texts" is an error unless it is allowed, for a service that accepts larger requests.',
    codes: lintCodes,
  },
  {
    title: 'Plans',
    when: 'when a plan is made: the plan shows them, and apply writes nothing',
    codes: planCodes,
  },
  {
    title: 'Policies',
    when: 'when a plan is checked against the policies of the stack, and by "trueup policy"',
    codes: policyCodes,
  },
  {
    title: 'Accepted values',
    when: 'when live values are written into manifests in place: these values are left out',
    codes: editCodes,
  },
  {
    title: 'Fleets',
    when: 'by "trueup fleet", and in the checks that a worker of a fleet starts',
    codes: fleetCodes,
  },
  {
    title: 'Runs',
    when: 'when a command runs: flags, files, secrets, services, the ledger, other runs',
    codes: { ...runCodes, ...ledgerCodes },
  },
];

export const diagnosticCodes = {
  ...manifestCodes,
  ...kindCodes,
  ...lintCodes,
  ...planCodes,
  ...editCodes,
  ...policyCodes,
  ...fleetCodes,
  ...runCodes,
  ...ledgerCodes,
} as const satisfies CodeTable;

export type DiagnosticCode = keyof typeof diagnosticCodes;
