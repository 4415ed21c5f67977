/**
 * The summary of a plan: counts, coverage, risks, the order for reviewers, and the next steps. Only this file may say "No
 * changes", and only for a plan whose read was complete and that has no problems.
 */
import type { Action, Change } from '../../model/change.ts';
import { hasErrors, type ShownDiagnostic } from '../../model/diagnostic.ts';
import { blockingIds, type Concern, deniedIds, type GuardId } from '../../model/guard.ts';
import type { Plan, TargetCoverage } from '../../model/plan.ts';
import type { PlanPolicies } from '../../model/policy.ts';
import { counted, quoted, quoteSome } from '../../model/quoted.ts';
import { firstFew, printable, shellWord } from './printable.ts';

type PlannedAction = Exclude<Action, 'none'>;

/** In the order of the summary. */
const plannedActions: readonly PlannedAction[] = ['create', 'adopt', 'update', 'release', 'delete'];

type ActionCounts = Readonly<Record<PlannedAction, number>>;

export function countActions(changes: readonly Change[]): ActionCounts {
  const counts = { create: 0, adopt: 0, update: 0, release: 0, delete: 0 };
  for (const { action } of changes) if (action !== 'none') counts[action] += 1;
  return counts;
}

/** `2 to create, 3 to update, 1 to delete`; empty when there is nothing to do. */
export function formatCounts(counts: ActionCounts): string {
  return plannedActions
    .filter((action) => counts[action] > 0)
    .map((action) => `${counts[action]} to ${action}`)
    .join(', ');
}

/**
 * `2 to create, 3 to update, 1 to delete, 211 unchanged, 1 warning`, or why the plan has no changes.
 * @param diagnostics of the command that are not part of the plan, such as warnings about manifests
 */
export function summaryLine(plan: Plan, diagnostics: readonly ShownDiagnostic[] = []): string {
  const todo = formatCounts(countActions(plan.changes));
  const warnings = [...plan.problems, ...diagnostics].filter(
    ({ severity, code }) => severity === 'warning' && code !== 'note',
  ).length;
  const unchanged = `${plan.unchanged} unchanged${warnings === 0 ? '' : `, ${counted(warnings, 'warning')}`}`;
  if (todo !== '') return `${todo}, ${unchanged}`;
  const { targets } = plan.coverage;
  if (targets.length > 0 && targets.every(({ unread }) => unread))
    return `Nothing could be read, so nothing is known to change; ${unchanged}`;
  if (!plan.coverage.complete) return `Found nothing to change, but the read was incomplete; ${unchanged}`;
  if (hasErrors(plan.problems)) return `Nothing can be planned yet, ${unchanged}`;
  return plan.problems.length === 0
    ? `No changes, ${unchanged}`
    : `Nothing to change, ${plan.unchanged} unchanged, and ${counted(warnings, 'warning')} above`;
}

/** How much of each target changes; empty for a plan of one target. A target that could not be read has no count. */
export function targetCounts({
  targets,
  changes,
  coverage,
}: Plan): { readonly target: string; readonly counts: string }[] {
  if (targets.length < 2) return [];
  const unread = new Set(
    coverage.targets.flatMap(({ target, unread, skipped }) => (unread || skipped ? [target] : [])),
  );
  return targets.map(({ name }) => {
    const some = changes.filter(({ address }) => address.target === name);
    const counts = formatCounts(countActions(some));
    return { target: name, counts: unread.has(name) ? 'not checked' : counts || 'no changes' };
  });
}

/** Says that a plan is about some resources only; undefined for one of the whole stack. */
export function selectionText({ selection, part }: Selected): string | undefined {
  if (selection === undefined) return undefined;
  if (part === undefined)
    return `a selection of ${counted(selection.length, 'resource')}: the rest of the stack is left as it is`;
  return `a part of the stack: ${partCounts({ selection, part })}; the rest is left as it is`;
}

type Selected = Pick<Plan, 'selection' | 'part'>;

/** `3 of 120 resources, and 1 that these need` */
export function partCounts({ selection = [], part }: Selected): string {
  const { of = 0, along = [] } = part ?? {};
  const needed =
    along.length === 0
      ? ''
      : `, and ${along.length} that ${selection.length === 1 ? 'it needs' : 'these need'}`;
  return `${selection.length} of ${counted(of, 'resource')}${needed}`;
}

/** What was selected, and what the plan leaves out; empty for a plan that is not of a part. */
export function partDetails({ selection = [], part }: Selected): string[] {
  if (part === undefined) return [];
  const others = part.of - selection.length - part.along.length;
  const undeclared =
    part.leftOut === 0
      ? ''
      : `, and ${part.leftOut} that ${part.leftOut === 1 ? 'is' : 'are'} no longer declared`;
  return [
    `selected with ${part.selectors.map((selector) => quoted(printable(selector))).join(', ')}`,
    `left as they are: ${counted(others, 'other declared resource')}${undeclared}`,
  ];
}

/** The flags that select this part: `--select tag:env=prod`. Empty for a plan that is not of a part. */
export function selectArguments(selectors: readonly string[] = []): string {
  return selectors.map((selector) => `--select ${shellWord(selector)}`).join(' ');
}

/**
 * The stack's argument for commands without the flags `--select` and `--complete`.
 * @param argument the stack's argument, followed by `selectArguments`
 */
export function withoutSelection(argument: string | undefined, part: Plan['part']): string | undefined {
  const selection = selectArguments(part?.selectors);
  const isSelected = selection !== '' && argument?.endsWith(selection);
  const rest = isSelected ? argument?.slice(0, -selection.length).trimEnd() : argument;
  if (rest === '- --complete') return '-';
  return rest === '' ? undefined : rest;
}

/** `2 problems forbid applying`; undefined when none does. */
export function blockedLine({ problems }: Plan): string | undefined {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  if (errors === 0) return undefined;
  return `${counted(errors, 'problem')} ${errors === 1 ? 'forbids' : 'forbid'} applying`;
}

/** Why the read was incomplete, as clauses; empty when it was complete. */
export function incompleteReasons({ coverage, problems }: Pick<Plan, 'coverage' | 'problems'>): string[] {
  if (coverage.complete) return [];
  const isWhole = ({ unread, incomplete }: TargetCoverage) => !unread && incomplete.length === 0;
  return [
    ...(coverage.targets.every(isWhole) ? ['not every manifest could be read'] : []),
    // Why a target was not read is among the problems already.
    ...coverage.targets.flatMap(({ target, unread, incomplete }) =>
      unread
        ? [`target ${quoted(printable(target))} was not read`]
        : firstFew(incomplete).map((why) => printable(`${target}: ${why}`)),
    ),
    ...problems
      .filter(({ class: about, code }) => about === 'incomplete' && code !== 'target-unread')
      .map(({ message }) => printable(message)),
  ];
}

// What a reviewer can do with a plan: one or two sentences, with commands in quotes.

export function nextSteps(plan: Plan): string {
  const { problems, guards, changes, coverage, part } = plan;
  if (hasErrors(problems))
    return 'Nothing can be applied until the problems are solved. Solve them, then plan again.';
  if (deniedIds(guards).length > 0) return deniedStep(guards);
  if (blockingIds(guards).length > 0)
    return 'Review this plan. To approve it, acknowledge its guards by name with the command shown beside them. Any other plan is refused.';
  if (changes.length === 0)
    return coverage.complete
      ? 'There is nothing to apply.'
      : 'The plan is incomplete. Fix the read errors and plan again.';
  return `Review this plan. After the merge, apply it with "trueup apply" and the plan file, or with ${quoted(['trueup apply', selectArguments(part?.selectors), approveArguments(plan)].filter(Boolean).join(' '))}. Any other plan is refused.`;
}

/** For a plan that a policy denies: one sentence. */
export function deniedStep(guards: Plan['guards']): string {
  return `${quoteSome(deniedIds(guards))} cannot be acknowledged: change what violates it, and plan again.`;
}

// What reports of a plan say about its guards besides their messages.

/** The messages of guards about single resources, except gained and lost access, which is listed with the changes. */
export function hiddenConcerns({ guards, changes }: Plan): (Concern & { readonly id: GuardId })[] {
  const listed = new Set(changes.flatMap(({ risks = [] }) => risks.map(({ message }) => message)));
  return guards.flatMap(({ id, concerns }) =>
    concerns.flatMap(({ address, messages }) => {
      const others = messages.filter((message) => !listed.has(message));
      return others.length === 0 ? [] : [{ id, address, messages: others }];
    }),
  );
}

/** The command that acknowledges the guards. Undefined while the plan has errors, which must be solved first. */
export function usableAcknowledgement(plan: Plan, stack: string | undefined): string | undefined {
  return hasErrors(plan.problems) ? undefined : acknowledgement(plan, stack);
}

/**
 * The command that acknowledges the guards of a plan; undefined when none blocks, or one cannot be acknowledged.
 * @param stack the stack's argument on the command line; absent for the one in the working directory
 */
export function acknowledgement(
  plan: Pick<Plan, 'guards' | 'digest' | 'made'>,
  stack?: string,
): string | undefined {
  const { guards } = plan;
  const blocking = blockingIds(guards);
  if (blocking.length === 0 || deniedIds(guards).length > 0) return undefined;
  const command = ['trueup apply', ...(stack === undefined ? [] : [stack])].join(' ');
  return `${command} ${approveArguments(plan)} --ack ${blocking.join(',')}`;
}

/** The flags that approve this plan. A digest that was applied before is refused without `--again`. */
function approveArguments({ digest, made }: Pick<Plan, 'digest' | 'made'>): string {
  return typeof made?.lastEnded === 'string' ? `--approve ${digest} --again` : `--approve ${digest}`;
}

// The order of changes for reviewers: first what removes or destroys, then what widens access, then the rest in the order of apply.

export function byRisk(changes: readonly Change[]): Change[] {
  return [...changes].sort((one, other) => rank(one) - rank(other));
}

function rank({ action, risks = [] }: Change): number {
  if (action === 'delete') return 0;
  if (action === 'release') return 1;
  if (risks.some(({ effect }) => effect === 'destroys')) return 2;
  if (risks.some(({ effect }) => effect === 'widens')) return 3;
  return risks.length > 0 ? 4 : 5;
}

// The coverage of a plan as labelled rows, before any layout. All text is printable.

interface CoverageRow {
  readonly label: string;
  readonly details: readonly string[];
  /** why the read was incomplete */
  readonly incomplete: readonly string[];
}

/** Maximum number of listed exemptions: high, because readers of the plan should see each of these decisions. */
const maxExemptions = 50;

/** Manifests, ledger, then each target. */
export function coverageRows({ coverage, policies }: Pick<Plan, 'coverage' | 'policies'>): CoverageRow[] {
  const read = `${counted(coverage.files, 'file')}, ${counted(coverage.documents, 'document')}`;
  const ledger =
    coverage.ledger === 'found'
      ? 'found'
      : 'none (first apply, or the ledger is lost): no field is reset, no access revoked, and nothing removed without an acknowledgement';
  return [
    { label: 'manifests', details: [read], incomplete: [] },
    { label: 'ledger', details: [ledger, ...coverage.ledgerNotes.map(printable)], incomplete: [] },
    ...(policies === undefined ? [] : [policiesRow(policies)]),
    ...coverage.targets.map(targetRow),
  ];
}

function policiesRow({ count, sources, exempted }: PlanPolicies): CoverageRow {
  const from = sources.map(({ policies, files, remote, ref, path, commit }) => {
    const where =
      remote === undefined
        ? files === undefined
          ? `commit ${commit}, whose stricter rules apply`
          : counted(files.length, 'file')
        : `${path} of ${remote}/${ref} at commit ${commit}`;
    return `${policies} from ${printable(where)}`;
  });
  const exempt = exempted.map(
    ({ guard, address, until, owner }) =>
      `${printable(address)} is exempt from ${guard} until ${until} (owner: ${printable(owner)})`,
  );
  return {
    label: 'policies',
    details: [
      `${count === 1 ? '1 policy' : `${count} policies`}: ${from.join(', ')}`,
      ...firstFew(exempt, maxExemptions),
    ],
    incomplete: [],
  };
}

function targetRow(coverage: TargetCoverage): CoverageRow {
  const { target, unread, skipped, requests, read, incomplete, invisible, notes, trail } = coverage;
  if (skipped)
    return { label: printable(target), details: ['not read: nothing of it is selected'], incomplete: [] };
  if (unread) {
    const after = requests === 0 ? '' : `, after ${counted(requests, 'request')}`;
    return { label: printable(target), details: [`not read${after}`], incomplete: [] };
  }
  const counts = read.map(({ kind, count, total }) =>
    printable(total === undefined ? `${count} ${kind}` : `${count} of ${total} ${kind}`),
  );
  const unseen =
    invisible.length === 0
      ? []
      : [
          `drift of ${counted(invisible.length, 'field')} cannot be seen: ${invisible.map(printable).join(', ')}`,
        ];
  return {
    label: printable(target),
    details: [
      `${counted(requests, 'request')}${counts.length === 0 ? '' : ': '}${counts.join(', ')}`,
      ...unseen,
      ...notes.map(printable),
      ...(trail === undefined ? [] : [printable(trail)]),
    ],
    incomplete: firstFew(incomplete.map(printable)),
  };
}
