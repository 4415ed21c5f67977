/**
 * The catalogue of errors: every code that a diagnostic or a JSON report can have, what it means and what to do. A code that is
 * missing here does not compile. `docs/reference/errors.md` is generated from this file.
 */
import type { CodeTable } from './code-entry.ts';
import { kindCodes } from './kind-codes.ts';
import { lintCodes } from './lint-codes.ts';
import { manifestCodes } from './manifest-codes.ts';
import { editCodes, planCodes } from './plan-codes.ts';
import { runCodes } from './run-codes.ts';

/** Codes of policies: their files, their rules, and their exemptions. */
const policyCodes = {
  'policies-unreadable': {
    title: 'Policies that the stack names cannot be read, or do not exist',
    class: ['failure', 'invalid'],
    fix: 'correct "spec.policies", or let the run read the remote that it names; without its policies nothing is planned',
  },
  'policy-expression': {
    title: 'The rule or the message of a policy is not valid',
    class: 'invalid',
    fix: 'correct the expression; the variables and their members are in docs/guides/policies.md',
  },
  'exemption-end': {
    title: 'The end of an exemption is not a valid date, or is too far away',
    class: 'invalid',
    fix: 'give a day at most 90 days from now',
  },
  'exemption-ends': {
    title: 'An exemption from a policy ends within 14 days',
    class: 'failure',
    warning: true,
    fix: 'change the resource so that it follows the policy, or let its owners renew the exemption',
  },
  'exemption-unused': {
    title: 'An exemption from a policy matches no resource',
    class: 'failure',
    warning: true,
    fix: 'correct the address of the exemption',
  },
  'exemption-ended': {
    title: 'An exemption from a policy has ended since the plan was approved',
    class: 'failure',
    fix: 'change the resource so that it follows the policy, or renew the exemption; then plan again',
  },
  'policy-denies': {
    title: 'A policy denies the plan',
    class: 'failure',
    fix: 'change what violates the policy, or ask its owners; it cannot be acknowledged',
  },
  'policy-tests': {
    title: 'Tests of policies fail',
    class: 'failure',
    fix: 'correct the rule, or what the test expects',
  },
} as const satisfies CodeTable;

/** Codes of errors about the ledger of a stack, its lock and its history. */
const ledgerCodes = {
  'ambiguous-apply': {
    title: 'Several applies of the history have this short id',
    class: 'failure',
    fix: 'write more of the id, or the whole id that "trueup history" lists',
  },
  'ledger-unusable': {
    title: 'The ledger cannot be reached, read or written',
    class: 'failure',
    fix: 'follow the message: it has the address and the reason',
  },
  'ledger-address': {
    title: 'The address of the ledger is not valid',
    class: 'failure',
    fix: 'correct "spec.ledger", or the variable in it',
  },
  'ledger-damaged': {
    title: 'The ledger is damaged',
    class: 'failure',
    fix: 'repair the file or database of the ledger, or rebuild it with "trueup recover"',
  },
  'ledger-conflict': {
    title: 'Another run wrote the ledger at the same time',
    class: 'failure',
    fix: 'plan again',
  },
  'ledger-moved': {
    title: 'The ledger of the stack was moved to another place',
    class: 'failure',
    fix: 'write the new place into "spec.ledger" of the stack file, or check out a commit that has it',
  },
  'ledger-move-unfinished': {
    title: 'A move of the ledger was interrupted, and this copy is not the ledger yet',
    class: 'failure',
    fix: 'run "trueup ledger move" again, as the message shows',
  },
  'ledger-elsewhere': {
    title: 'The stack has no ledger at the place that it names, but one at another place',
    class: 'conflict',
    fix: 'move it with "trueup ledger move", or name the other place in "spec.ledger"',
  },
  'ledger-lost': {
    title: 'The ledger of the stack is lost, but the history that is needed to rebuild it exists',
    class: 'failure',
    fix: 'rebuild the ledger with "trueup recover"',
  },
  'ledger-exists': {
    title: 'The place that a ledger would move to has another ledger of that name',
    class: 'conflict',
    fix: 'check which one is right; move the other one away, or give one of the stacks another name',
  },
  'nothing-to-move': {
    title: 'There is no ledger to move, or none that has to move',
    class: 'failure',
    fix: 'see the message; --from names the place of the ledger',
  },
  locked: {
    title: 'Another run holds the lock of the stack',
    class: 'failure',
    fix: 'wait for it with --lock-timeout; if that run has certainly ended, use "trueup unlock"',
  },
  'wrong-lock-id': {
    title: 'The stack is not locked with this id',
    class: 'failure',
    fix: 'see who holds the lock, and unlock with that id',
  },
  'lock-lost': {
    title: 'The lock of this run was removed while it was working',
    class: 'failure',
    fix: 'check who else works on this stack, and plan again',
  },
  'lock-left': {
    title: 'The lock of this run could not be released',
    class: 'failure',
    fix: 'remove it with "trueup unlock", as the message shows',
  },
  'history-unwritten': {
    title: 'The history of an apply is incomplete',
    class: 'failure',
    fix: 'repair the file or database of the history, and run "trueup apply" again: it finds out and records what this apply did',
  },
  'history-damaged': {
    title: 'An entry of the history cannot be read',
    class: 'failure',
    fix: 'restore it from a backup, or remove it: only what its apply began and did not end is forgotten',
  },
  'begun-unknown': {
    title: 'Whether an earlier apply left something unfinished is not known',
    class: 'failure',
    warning: true,
    fix: 'restore the entry of the history that cannot be read, or remove it: then its apply counts as one that left nothing',
  },
  'stack-renamed': {
    title: 'The stack was renamed, and the new name has taken over its ledger',
    class: 'failure',
    fix: 'plan and apply the renamed stack; to rename it back, add "metadata.renamedFrom" to this one; or give this stack another name',
  },
  'former-ledger-taken': {
    title: 'Another stack has already taken over the ledger of the former name',
    class: 'failure',
    fix: 'correct "metadata.renamedFrom"',
  },
  'former-ledger-waits': {
    title: "The ledger of the stack's former name has not been taken over yet",
    class: 'failure',
    fix: 'apply the stack; if its own ledger is damaged, move that away first',
  },
  'look-incomplete': {
    title: 'The ledger was not written, because what could not be read would lose its records',
    class: 'failure',
    fix: 'let the token read everything that the message names, then run the command again',
  },
  'nothing-moved': {
    title: 'There are no records to carry over to another address',
    class: 'failure',
    fix: 'see the message for what the ledger has of the target',
  },
} as const satisfies CodeTable;

/** Codes of errors of fleets. */
const fleetCodes = {
  'fleet-file': {
    title: 'The fleet file cannot be read, or is not valid',
    class: 'invalid',
    fix: 'correct fleet.yaml; docs/guides/fleet.md has an example',
  },
  'fleet-database': {
    title: 'The database of the fleet cannot be used, or its tables are of another version',
    class: 'failure',
    fix: 'set TRUEUP_FLEET_URL, and run "trueup fleet migrate" with the version of trueup that the workers have',
  },
  'fleet-target': {
    title: 'A stack of a fleet names a target that fleet.yaml does not allow',
    class: 'failure',
    fix: 'add its address to "targets" of the repository in fleet.yaml, or correct the stack',
  },
  'fleet-ledger': {
    title: 'A stack of a fleet keeps its ledger in a local file',
    class: 'invalid',
    fix: 'keep the ledger in git or PostgreSQL: no worker has the files of another machine',
  },
  'fleet-freeze': {
    title: 'A fleet applies nothing during a freeze',
    class: 'failure',
    fix: 'wait for its end, let one of the people in "except" of the freeze approve, or run "trueup ci apply" in CI',
  },
} as const satisfies CodeTable;

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
      'Each is a warning, with one exception. List its code in "spec.lint.raise" of the stack to make it an error, or in "spec.lint.allow" to turn it off. "too-many-texts" is an error from the start. Allow it only for a service that accepts larger requests.',
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
    when: 'when live values are written into manifests in place: a value with one of these errors is left out',
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
