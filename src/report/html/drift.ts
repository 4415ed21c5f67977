/** Drift as one HTML page, built like that of a plan: what changed in the targets and who did it, then what is pending in the files. */
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type { Drift, DriftedResource, DriftField, PendingResource } from '../../model/drift.ts';
import { counted, quotedUnlessPlain } from '../../model/quoted.ts';
import { formatPlace } from '../text/change.ts';
import { problemViews } from './diagnostics.ts';
import { htmlDocument } from './document.ts';
import { fieldLines, limitViews, noticeView, targetFacts } from './plan.ts';
import type { ActionView, ChangeView, PlanView, Statement } from './report-view.ts';
import { fieldViews } from '../view/field.ts';
import { lastModifiedLines } from '../view/format-last-modified.ts';
import { coverageRows, partDetails, selectionText } from '../view/plan-summary.ts';
import { printable } from '../view/printable.ts';
import { driftReasons, driftSummary, nextStepOf, pendingWords } from '../text/drift.ts';

interface DriftHtmlOptions {
  /** diagnostics of the command that are not part of the drift */
  readonly diagnostics?: readonly ShownDiagnostic[];
  /** milliseconds since 1970 */
  readonly now: number;
  /** the stack's argument on the command line; absent for the one in the working directory */
  readonly stack?: string | undefined;
}

/** @param drift without secrets */
export function renderDriftHtml(drift: Drift, { diagnostics = [], now, stack }: DriftHtmlOptions): string {
  return htmlDocument({
    title: 'Drift of',
    name: printable(drift.stack),
    facts: [{ label: 'time', text: timeText(now) }, ...targetFacts(drift.targets)],
    summary: driftSummary(drift),
    statements: statementsOf(drift),
    problems: problemViews([...drift.problems, ...diagnostics]),
    plan: { ...tableOf(drift, now), next: nextStepOf(drift, stack) },
  });
}

function timeText(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function statementsOf(drift: Drift): Statement[] {
  const { unmanaged } = drift;
  const about = [selectionText(drift) ?? [], partDetails(drift)].flat();
  const unseen = unmanaged?.unseen ?? 0;
  const unseenText = `for ${counted(unseen, 'resource')}, the ledger has no values of fields outside the manifests: the next apply records them`;
  return [
    ...about.map((text) => ({ tone: 'plain' as const, text })),
    ...(unseen === 0 ? [] : [{ tone: 'plain' as const, text: unseenText }]),
  ];
}

const words = {
  changes: 'Changed since the last apply',
  unchanged: 'as last applied',
  incomplete: 'so more may have drifted than was found',
  notices: 'Drift not known',
  action: 'State',
  where: 'Last modified',
};

/** The states, in the order of the page. A resource that is gone or replaced shows its reason, like a deleted one in a plan. */
const states: readonly (Required<ActionView> & { readonly symbol: string })[] = [
  { action: 'changed', tone: 'update', symbol: '~' },
  { action: 'gone', tone: 'delete', symbol: '-' },
  { action: 'recreated', tone: 'delete', symbol: '*' },
  { action: 'unmanaged', tone: 'update', symbol: '~' },
  { action: 'name', tone: 'update', symbol: '~' },
  { action: 'pending', tone: 'none', symbol: '+' },
];

function tableOf(drift: Drift, now: number): Omit<PlanView, 'next'> {
  const changes = [
    ...drift.drifted.map((one) => driftedView(one, now)),
    ...(drift.unmanaged?.resources ?? []).map(({ address, id, fields, lastModified }) =>
      changeView(
        {
          address,
          id,
          fields,
          is: 'unmanaged',
          lastModified,
          reason: 'it was changed in the target, and no manifest sets it',
        },
        now,
      ),
    ),
    ...drift.changedNames.map(({ message, fix, ...one }) =>
      changeView({ ...one, is: 'name', fields: [], reason: message, notes: [`fix: ${fix}`] }, now),
    ),
    ...drift.pending.map((one) => pendingView(one, now)),
  ];
  return {
    words,
    counts: states.map((state) => ({
      ...state,
      count: changes.filter(({ action }) => action === state.action).length,
    })),
    unchanged: drift.unchanged,
    reasons: drift.complete ? [] : driftReasons(drift).map(printable),
    limits: limitViews(drift.coverage),
    guards: [],
    risks: [],
    changes,
    waits: [],
    notices: [...drift.unrecorded, ...drift.undetermined].map(noticeView),
    coverage: coverageRows(drift),
  };
}

interface Changed extends Pick<DriftedResource, 'address'> {
  readonly lastModified?: DriftedResource['lastModified'] | undefined;
  readonly is: string;
  readonly id?: string | undefined;
  readonly fields: readonly DriftField[];
  readonly reason: string;
  readonly notes?: readonly string[];
  readonly place?: PendingResource['place'];
  /** the remark for a field that changed on both sides */
  readonly mark?: string;
}

function changeView(changed: Changed, now: number): ChangeView {
  const { is, address, id, fields, reason, notes = [], lastModified, place, mark = '' } = changed;
  const marked = fields.map(({ both, ...field }) => (both ? { ...field, origin: mark } : field));
  return {
    action: is,
    tone: states.find(({ action }) => action === is)?.tone ?? 'none',
    kind: printable(address.kind),
    target: printable(address.target),
    name: printable(address.name),
    reason: printable(reason),
    ...(place === undefined ? {} : { place: formatPlace(place) }),
    ...(id === undefined ? {} : { id: printable(id) }),
    fields: marked.flatMap(fieldViews).map(fieldLines),
    ...(notes.length === 0 ? {} : { notes: notes.map(printable) }),
    ...(lastModified === undefined ? {} : { lastModified: lastModifiedLines(lastModified, now) }),
  };
}

function driftedView({ newId, ...drifted }: DriftedResource, now: number): ChangeView {
  const { is, id } = drifted;
  const reason = {
    changed: 'it was changed in the target',
    gone: 'applied by this stack, and no longer there',
    recreated: `another one has its name now: ${quotedUnlessPlain(id ?? '')} was applied, ${quotedUnlessPlain(newId ?? '')} is live`,
  }[is];
  return changeView({ ...drifted, reason, mark: 'the files changed it, too' }, now);
}

function pendingView({ is, ...pending }: PendingResource, now: number): ChangeView {
  const reason = pendingWords[is].says ?? 'the files changed it';
  return changeView({ ...pending, is: 'pending', reason, mark: 'live changed, too' }, now);
}
