/**
 * A plan as one HTML page. It shows the same facts as the Markdown, all changes and their calls; removals, and changes of
 * access, come first.
 */
import { formatAddress } from '../../model/address.ts';
import type { Call } from '../../model/call.ts';
import type { Change, Notice } from '../../model/change.ts';
import { hasErrors, type ShownDiagnostic } from '../../model/diagnostic.ts';
import { type Guard, isBlocking, type Risk } from '../../model/guard.ts';
import type { Json } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import { sortedKeys } from '../json/render-json.ts';
import { actionSymbols, callTerms, formatPlace } from '../text/change.ts';
import { guardSummary } from '../text/guards.ts';
import { apiRootIn, bodyJson, formatCallPath } from '../view/call.ts';
import { differenceLines, type FieldView, fieldViews } from '../view/field.ts';
import { lastModifiedLines } from '../view/format-last-modified.ts';
import {
  blockedLine,
  byRisk,
  countActions,
  coverageRows,
  hiddenConcerns,
  incompleteReasons,
  nextSteps,
  partDetails,
  selectionText,
  summaryLine,
  targetCounts,
  usableAcknowledgement,
} from '../view/plan-summary.ts';
import { clip, printable } from '../view/printable.ts';
import { problemViews } from './diagnostics.ts';
import { htmlDocument } from './document.ts';
import { graphView, waitsOf } from './graph.ts';
import type {
  CallView,
  ChangeView,
  FactView,
  FieldLines,
  GuardView,
  NamedText,
  PlanView,
  ReportView,
  RiskList,
  Statement,
} from './report-view.ts';

/** @param options.clean redacts secrets in all texts, those of calls among them */
export function renderPlanHtml(
  plan: Plan,
  {
    clean = (all) => all,
    ...options
  }: PlanHtmlOptions & { readonly clean?: <T extends object>(value: T) => T } = {},
): string {
  return htmlDocument(clean(planReport(plan, options)));
}

// What the page of a plan shows: the same facts as its Markdown, all changes, and their calls.

interface PlanHtmlOptions {
  /** diagnostics of the command that are not part of the plan */
  readonly diagnostics?: readonly ShownDiagnostic[];
  /** the stack's argument on the command line, for proposed commands */
  readonly stack?: string;
  /** milliseconds since 1970, for how long ago a resource was modified */
  readonly now?: number;
  /** the pull request that the run is about */
  readonly review?: { readonly name: string; readonly url?: string } | undefined;
}

function planReport(plan: Plan, options: PlanHtmlOptions): ReportView {
  const { diagnostics = [] } = options;
  return {
    title: plan.part === undefined ? 'Plan of' : 'Plan of a part of',
    name: printable(plan.stack),
    facts: factsOf(plan, options),
    summary: summaryLine(plan, diagnostics),
    statements: statementsOf(plan),
    problems: problemViews([...plan.problems, ...diagnostics]),
    plan: planView(plan, options),
  };
}

function factsOf(plan: Plan, { review }: PlanHtmlOptions): FactView[] {
  const { made, targets } = plan;
  const counts = new Map(targetCounts(plan).map(({ target, counts: words }) => [target, words]));
  const dirty = made?.dirty ? ', with changes that are not committed' : '';
  const head = made?.pullRequestCommit;
  const merged = head === undefined || head === made?.commit ? '' : `, a merge of ${head}`;
  const isLink = review?.url?.startsWith('https://') === true;
  return [
    ...(made === undefined
      ? []
      : [{ label: 'time', text: `${made.at.replace('T', ' ').replace(/(\.\d+)?Z$/, '')} UTC` }]),
    ...(made?.commit === undefined ? [] : [{ label: 'commit', text: `${made.commit}${merged}${dirty}` }]),
    ...(review === undefined
      ? []
      : [{ label: 'pull request', text: review.name, ...(isLink ? { href: review.url ?? '' } : {}) }]),
    ...targetFacts(targets, counts),
  ].map((fact) => ({ ...fact, text: printable(fact.text) }));
}

/** @param counts the text about the changes of a target, by its name */
export function targetFacts(
  targets: Plan['targets'],
  counts: ReadonlyMap<string, string> = new Map(),
): FactView[] {
  return targets.map(({ name, service, place, url, dialect }) => {
    const count = counts.get(name);
    const about = `${service} ${place} at ${url}, dialect ${dialect}`;
    return {
      label: 'target',
      text: printable(`${name}: ${about}${count === undefined ? '' : ` (${count})`}`),
    };
  });
}

function statementsOf(plan: Plan): Statement[] {
  const { problems, guards } = plan;
  const about = [selectionText(plan) ?? [], partDetails(plan)].flat();
  const [blocked, guarded] = [blockedLine(plan), guardSummary(plan)];
  return [
    ...(blocked === undefined || !hasErrors(problems) ? [] : [{ tone: 'danger' as const, text: blocked }]),
    ...(guarded === undefined
      ? []
      : [{ tone: guards.some(isBlocking) ? ('danger' as const) : ('warning' as const), text: guarded }]),
    ...about.map((text) => ({ tone: 'plain' as const, text })),
  ];
}

function planView(plan: Plan, { stack, now = 0 }: PlanHtmlOptions): PlanView {
  const changes = byRisk(plan.changes);
  const command = usableAcknowledgement(plan, stack);
  const rootOf = apiRootIn(plan.targets);
  return {
    digest: plan.digest,
    counts: Object.entries(countActions(changes)).map(([name, count]) => {
      const action = name as Exclude<Change['action'], 'none'>;
      return { action, symbol: actionSymbols[action], count };
    }),
    unchanged: plan.unchanged,
    next: nextSteps(plan),
    reasons: incompleteReasons(plan),
    limits: limitViews(plan.coverage),
    ...(command === undefined ? {} : { acknowledge: printable(command) }),
    guards: guardViews(plan.guards),
    risks: riskLists(plan, changes),
    changes: changes.map((change) => changeView(change, { now, rootOf })),
    waits: waitsOf(changes),
    graph: graphView(changes),
    notices: plan.notices.map(noticeView),
    coverage: coverageRows(plan),
  };
}

export function limitViews({ targets }: Plan['coverage']): NamedText[] {
  return targets.flatMap(({ target, limits }) =>
    limits.map((limit) => ({ name: printable(target), text: printable(limit) })),
  );
}

const maxNames = 100;

/** One card for all guards that fired because of the same resources. */
function guardViews(guards: readonly Guard[]): GuardView[] {
  const groups = Map.groupBy(guards, ({ id, concerns }) =>
    concerns.length === 0 ? id : JSON.stringify(concerns.map(nameOf).toSorted()),
  );
  return [...groups.values()].map((some) => {
    const withoutMessages = some.flatMap(({ concerns }) =>
      concerns.filter(({ messages }) => messages.length === 0),
    );
    const names = [...new Set(withoutMessages.map(nameOf))];
    const left = names.length - maxNames;
    return {
      blocks: some.some(isBlocking),
      guards: some.map((guard) => ({
        id: guard.id,
        effect: guard.effect,
        message: printable(guard.message),
      })),
      names: left > 0 ? [...names.slice(0, maxNames), `and ${left} more`] : names,
    };
  });
}

function nameOf({ address }: Pick<Change, 'address'>): string {
  return printable(formatAddress(address));
}

export function noticeView({ address, message, fix }: Notice): NamedText {
  const text = fix === undefined ? message : `${message}; fix: ${fix}`;
  return { name: nameOf({ address }), text: printable(text) };
}

interface ChangeContext {
  readonly now: number;
  readonly rootOf: (target: string) => string;
}

function changeView(change: Change, { now, rootOf }: ChangeContext): ChangeView {
  const {
    action,
    address,
    reason,
    place,
    id,
    fields,
    risks = [],
    notes,
    lastModified,
    calls,
    sharedCall,
  } = change;
  return {
    action,
    kind: printable(address.kind),
    target: printable(address.target),
    name: printable(address.name),
    reason: printable(reason),
    ...(place === undefined ? {} : { place: formatPlace(place) }),
    ...(id === undefined ? {} : { id: printable(id) }),
    fields: fields.flatMap(fieldViews).map(fieldLines),
    ...(risks.length === 0
      ? {}
      : { risks: risks.map(({ effect, message }) => ({ effect, text: printable(message) })) }),
    ...(notes.length === 0 ? {} : { notes: notes.map(printable) }),
    ...(lastModified === undefined ? {} : { lastModified: lastModifiedLines(lastModified, now) }),
    ...(calls.length === 0 ? {} : { calls: calls.map((call) => callView(call, rootOf)) }),
    ...(sharedCall === undefined ? {} : { sharedCall: printable(sharedCall) }),
  };
}

/** A field may hold a file: only its first lines are shown. */
const maxLines = 1_000;
const maxLine = 4_000;

export function fieldLines({ name, difference, remarks }: FieldView): FieldLines {
  const all = differenceLines(difference);
  const left = all.length - maxLines;
  const shown = all.slice(0, maxLines).map((line) => clip(line, maxLine));
  return {
    name,
    lines: left > 0 ? [...shown, `  and ${left} more lines`] : shown,
    ...(remarks.length === 0 ? {} : { remarks: remarks.join('; ') }),
  };
}

function callView(call: Call, rootOf: ChangeContext['rootOf']): CallView {
  return {
    method: call.method,
    path: `${rootOf(call.target)}${formatCallPath(call.path)}`,
    ...(call.body === undefined ? {} : { body: sortedKeys(bodyJson(call.body)) as Json }),
    terms: callTerms(call).join('; '),
  };
}

// What a reviewer must see first, besides guards: removals, scheduled destroys, gained and lost access. Each item links to its change.

type Item = RiskList['items'][number];

/** @param changes those of the plan, in the order of the page */
function riskLists(plan: Plan, changes: readonly Change[]): RiskList[] {
  const removalsBy = (action: Change['action']) =>
    changes.flatMap((change, index) => (change.action === action ? [removal(change, index)] : []));
  const position = new Map(changes.map(({ address }, index) => [formatAddress(address), index]));
  const lists: readonly RiskList[] = [
    { title: 'Deletes', tone: 'danger', filter: { action: 'delete' }, items: removalsBy('delete') },
    { title: 'Releases', tone: 'danger', filter: { action: 'release' }, items: removalsBy('release') },
    {
      title: 'Scheduled destroys',
      tone: 'danger',
      filter: { words: 'destroys' },
      items: changes.flatMap(withRisk('destroys')),
    },
    {
      title: 'Access gained',
      tone: 'warning',
      filter: { words: 'widens' },
      items: changes.flatMap(withRisk('widens')),
    },
    {
      title: 'Access lost',
      tone: 'plain',
      filter: { words: 'narrows' },
      items: changes.flatMap(withRisk('narrows')),
    },
    {
      title: 'What else trips a guard',
      tone: 'warning',
      items: hiddenConcerns(plan).map(({ id, address, messages }) => {
        const name = formatAddress(address);
        const change = position.get(name);
        return {
          name: printable(name),
          text: printable(`${id}: ${messages.join('; ')}`),
          ...(change === undefined ? {} : { change }),
        };
      }),
    },
  ];
  return lists.filter(({ items }) => items.length > 0);
}

/** An item for a delete or a release, with its notes and who loses access. */
function removal({ address, reason, notes, risks = [] }: Change, change: number): Item {
  const lost = risks.filter(({ effect }) => effect === 'narrows').map(({ message }) => message);
  const losses = [...notes, ...lost].map(printable);
  const name = printable(formatAddress(address));
  return { name, text: printable(reason), change, ...(losses.length === 0 ? {} : { losses }) };
}

function withRisk(effect: Risk['effect']): (change: Change, index: number) => Item[] {
  return ({ address, risks = [] }, change) =>
    risks
      .filter((risk) => risk.effect === effect)
      .map(({ message }) => ({
        name: printable(formatAddress(address)),
        text: printable(message),
        change,
      }));
}
