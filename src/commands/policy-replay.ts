/** Runs policies on the applies in the history, and reports what they would have stopped. Rules that need missing data are unknown. */
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import { policyGuard } from '../model/guard.ts';
import type { JsonObject } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import { type HistoryChange, type HistoryEntry, type HistoryStore, LedgerError } from '../model/ledger.ts';
import type { Policy, RelatedResource, Severity } from '../model/policy.ts';
import { counted } from '../model/quoted.ts';
import { findViolations, isMatched, type PlanCheck } from '../policies/check-plan.ts';
import { evaluate } from '../policies/run-worker.ts';
import { exemptionsFor, exemptionState } from '../policies/exemptions.ts';
import { specShape } from '../policies/load-policies.ts';
import { changeVariable, countsOf, planVariable } from '../policies/variables.ts';
import { diagnosticsMember, renderJson } from '../report/json/render-json.ts';
import { printable } from '../report/view/printable.ts';
import { taggedAlone } from '../run/checked-tags.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { type CommandContext, printError, printJson, textOutput } from '../run/terminal.ts';

interface ReplayedFinding {
  readonly policy: string;
  readonly severity: Severity;
  readonly address: string;
  /** `unknown`: the history lacks data that the rule reads */
  readonly is: 'violation' | 'exempt' | 'unknown';
  readonly message?: string;
}

interface ReplayedApply {
  readonly id: string;
  /** RFC 3339 */
  readonly began: string;
  readonly who: string;
  readonly changes: number;
  readonly findings: readonly ReplayedFinding[];
}

interface Replay {
  /** RFC 3339 */
  readonly since: string;
  readonly policies: number;
  /** newest first */
  readonly applies: readonly ReplayedApply[];
  /** entries that cannot be read */
  readonly damaged: readonly string[];
}

/** The most entries that are read. */
const maxEntries = 10_000;

export async function replayPolicies(
  policies: readonly Policy[],
  store: HistoryStore,
  { host, since }: { readonly host: CliHost; readonly since: number },
): Promise<Replay> {
  const read = await store.readEntries(maxEntries);
  const damaged = read.flatMap((entry) => (entry instanceof LedgerError ? [entry.message] : []));
  const entries = read.flatMap((entry) =>
    entry instanceof LedgerError || Date.parse(entry.began) < since || entry.changes.length === 0
      ? []
      : [entry],
  );
  const complete = entries.filter(isComplete);
  const found = await findViolations(policies, complete.map(checkOf), host.kinds);
  const findingsById = new Map(complete.map((entry, index) => [entry.id, found[index] ?? []]));
  const now = host.now();
  const applies: ReplayedApply[] = [];
  const partial = entries.filter((entry) => !isComplete(entry));
  const partialFindings = await replayPartial(policies, partial, host.kinds);
  for (const entry of entries) {
    const findings = (findingsById.get(entry.id) ?? []).map(
      ({ policy, change: { address }, message, isEvaluated }) =>
        findingOf(
          policy,
          formatAddress(address),
          { is: isEvaluated ? 'violation' : 'unknown', message },
          now,
        ),
    );
    const ofPartial = (partialFindings.get(entry.id) ?? []).map(({ policy, address, ...result }) =>
      findingOf(policy, address, result, now),
    );
    const { id, began, run, changes } = entry;
    const all = [...findings, ...ofPartial, ...unknownOfTagged(policies, entry, host)];
    applies.push({ id, began, who: run.who, changes: changes.length, findings: all });
  }
  return { since: new Date(since).toISOString(), policies: policies.length, applies, damaged };
}

function findingOf(
  { name: policy, severity, exemptions }: Policy,
  address: string,
  { is, message }: { readonly is: 'violation' | 'unknown'; readonly message: string },
  now: number,
): ReplayedFinding {
  const isExempt = exemptionsFor(exemptions, address).some(
    (one) => exemptionState(one, now).is === 'in-force',
  );
  return {
    ...{ policy, severity, address },
    is: is === 'violation' && isExempt ? 'exempt' : is,
    ...(message === '' ? {} : { message }),
  };
}

/** Unknown results for resources of which only the tags changed: a plan checks such a resource itself, but older entries do not have it. */
function unknownOfTagged(
  policies: readonly Policy[],
  entry: HistoryEntry,
  { kinds, now }: CliHost,
): ReplayedFinding[] {
  const roots = taggedAlone(
    entry.changes.map(({ address }) => parseAddress(address)),
    kinds,
  );
  return roots.flatMap((address) => {
    const text = formatAddress(address);
    if (entry.tagged !== undefined && Object.hasOwn(entry.tagged, text)) return [];
    const change = { address, action: 'update', place: placeIn(entry, text), tags: {} } as const;
    return policies
      .filter(({ match }) => isMatched(match, { ...change, hasUnknownTags: true }))
      .map((policy) => findingOf(policy, text, { is: 'unknown', message: missingData }, now()));
  });
}

/** Whether the entry has all data that rules can read. */
function isComplete({ unchanged, changes }: HistoryEntry): boolean {
  return unchanged !== undefined && changes.every(({ checked }) => checked !== undefined);
}

function checkOf(entry: HistoryEntry): PlanCheck {
  const { stack, commit, began, changes, unchanged = 0, related = {} } = entry;
  // Resources that were checked because their tags changed.
  const tagged = Object.entries(entry.tagged ?? {}).map(
    ([address, checked]) => ({ address, action: 'update', fields: [], checked }) as const,
  );
  const found = new Map<AddressText, RelatedResource>();
  const relatedAt = (address: AddressText): RelatedResource => {
    const spec = Object.hasOwn(related, address) ? related[address] : undefined;
    const one = found.get(address) ?? { address, ...(spec === undefined ? {} : { spec }) };
    found.set(address, one);
    return one;
  };
  return {
    plan: { stack, commit, time: began, counts: countsOf(changes, unchanged) },
    changes: [...changes, ...tagged].flatMap(({ address, action, fields, checked }) =>
      checked === undefined
        ? []
        : [
            {
              ...{ address: parseAddress(address), action, fields, ...checked },
              ...{ before: checked.before, after: checked.after, declaredAt: checked.declaredAt },
              place: placeIn(entry, address),
              parent: checked.parent && relatedAt(checked.parent),
              references: checked.references.map(relatedAt),
            },
          ],
    ),
  };
}

/** The place of a change's target: `acme` in `workspaces acme at https://…`. */
function placeIn({ targets = {} }: HistoryEntry, address: string): string | undefined {
  const { target } = parseAddress(address);
  return Object.hasOwn(targets, target) ? targets[target]?.split(' ')[1] : undefined;
}

interface PartialFinding {
  readonly policy: Policy;
  readonly address: string;
  readonly is: 'violation' | 'unknown';
  readonly message: string;
}

const missingData = 'the history lacks data that the rule reads';

/**
 * Runs rules on incomplete entries. Members that these lack are left out, so a rule that reads one fails, and its result is unknown. A
 * rule that tests for a member is not run, and its result is unknown, too.
 */
async function replayPartial(
  policies: readonly Policy[],
  entries: readonly HistoryEntry[],
  kinds: Registry,
): Promise<ReadonlyMap<string, readonly PartialFinding[]>> {
  const all = entries.flatMap((entry) => entry.changes.map((change) => ({ entry, change })));
  const cases = all.flatMap(({ entry, change }, index) => {
    const address = parseAddress(change.address);
    return policies.flatMap((policy, rule) => {
      const { tags, ...match } = policy.match;
      const place = placeIn(entry, change.address);
      if (!isMatched(match, { address, action: change.action, place, tags: {} })) return [];
      const mayRun = tags === undefined && !testsForMember.test(policy.rule);
      return [{ entry, change, policy, rule, index, mayRun }];
    });
  });
  const run = cases.filter(({ mayRun }) => mayRun);
  const { results } = await evaluate({
    rules: policies.map((policy) => ({ rule: policy.rule, spec: specShape(policy, kinds) })),
    changes: all.map(({ entry, change }) => ({ change: partialChange(change), plan: partialPlan(entry) })),
    plan: {},
    cases: run.map(({ rule, index }) => [rule, index]),
  });
  const found = new Map<string, PartialFinding[]>();
  const add = (id: string, one: PartialFinding) => found.set(id, [...(found.get(id) ?? []), one]);
  for (const { entry, change, policy } of cases.filter(({ mayRun }) => !mayRun))
    add(entry.id, { policy, address: change.address, is: 'unknown', message: missingData });
  for (const [index, { entry, change, policy }] of run.entries()) {
    const result = results[index];
    if (result?.is === 'pass') continue;
    const isKnown = result?.is === 'violation';
    add(entry.id, {
      ...{ policy, address: change.address },
      is: isKnown ? 'violation' : 'unknown',
      message: isKnown ? '' : missingData,
    });
  }
  return found;
}

const testsForMember = /\bhas\s*\(|\bin\s+(?:change|resource|plan)\b/;

/** The variable `change` with the members that every entry has. */
function partialChange({ address, action, fields }: HistoryChange): JsonObject {
  const all = changeVariable({
    ...{ address: parseAddress(address), action, fields, tags: {}, accessGained: [], accessLost: [] },
    ...{ before: undefined, after: undefined, declaredAt: undefined, parent: undefined, references: [] },
    place: undefined,
  });
  const known = ['address', 'kind', 'target', 'name', 'action', 'fields'];
  return Object.fromEntries(Object.entries(all).filter(([name]) => known.includes(name)));
}

/** The variable `plan` without the number of unchanged resources, which older entries lack. */
function partialPlan({ stack, commit, began, changes }: HistoryEntry): JsonObject {
  const { unchanged: _, ...counts } = countsOf(changes, 0);
  return { ...planVariable({ stack, commit, time: began, counts: countsOf(changes, 0) }), counts };
}

export function printReplay(replay: Replay, { terminal }: CommandContext): ExitCode {
  const { since, policies, applies, damaged } = replay;
  printJson(terminal, (reported) =>
    renderJson({
      ...{ since, policies },
      applies: applies.map(({ findings, ...one }) => ({
        ...one,
        findings: findings.map((found) => ({ ...found })),
      })),
      ...diagnosticsMember(reported),
    }),
  );
  const output = textOutput(terminal);
  const { paint } = terminal;
  for (const { id, began, who, findings } of applies) {
    const lines = findingLines(findings.filter(({ is }) => is !== 'exempt'));
    if (lines.length === 0) continue;
    output?.write(`${paint.bold(`${began}  ${id}  ${printable(who)}`)}\n${lines.join('')}`);
  }
  output?.write(`${summaryOf(applies, since)}\n`);
  for (const message of damaged) printError(terminal, 'history-damaged', message);
  return damaged.length === 0 ? exitCodes.done : exitCodes.error;
}

const verbs: Readonly<Record<Severity, string>> = { deny: 'denied', confirm: 'blocked', warn: 'warned' };
/** How many resources of a finding are named at most. */
const maxNamed = 5;

/** One line for each policy and message. */
function findingLines(findings: readonly ReplayedFinding[]): string[] {
  const groups = Map.groupBy(findings, ({ policy, is, message = '' }) => `${policy} ${is} ${message}`);
  return [...groups.values()].flatMap((some) => {
    const [one] = some;
    if (one === undefined) return [];
    const names = some.slice(0, maxNamed).map(({ address }) => printable(address));
    const more = some.length > maxNamed ? ` and ${some.length - maxNamed} more` : '';
    const says = one.message === undefined ? '' : `: ${printable(one.message)}`;
    const what = one.is === 'unknown' ? 'unknown' : verbs[one.severity];
    return [`  ${what}  ${policyGuard(one.policy)}  ${names.join(', ')}${more}${says}\n`];
  });
}

function summaryOf(applies: readonly ReplayedApply[], since: string): string {
  const count = (has: (finding: ReplayedFinding) => boolean) =>
    applies.filter(({ findings }) => findings.some(has)).length;
  const stopped = count(({ is, severity }) => is === 'violation' && severity !== 'warn');
  const warned = count(({ is, severity }) => is === 'violation' && severity === 'warn');
  const unknown = count(({ is }) => is === 'unknown');
  const parts = [
    `${counted(stopped, 'would have been stopped', 'would have been stopped')}`,
    ...(warned === 0 ? [] : [`${warned} with a warning`]),
    ...(unknown === 0
      ? []
      : [`${unknown} unknown in part, because the history of older versions lacks data that rules read`]),
  ];
  return `Of ${counted(applies.length, 'apply', 'applies')} with changes since ${since}, ${parts.join(', ')}`;
}
