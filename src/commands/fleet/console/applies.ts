/** What pages show about applies: why one waits, and how those that began have ended. */
import { clip } from '../../../report/view/printable.ts';
import type { OpenPlan } from '../apply/apply-records.ts';
import { queuedWords, waitingWords } from '../apply/standing.ts';
import { type Content, type Html, html } from './html.ts';
import { clockText, dueText, durationText, link, numberText, stackLink, table, timeText } from './layout.ts';
import { clock, inScope, type Reading, type Row, visibleStacks, textOf, timeOf } from './reading.ts';

/** The values of `applies.outcome`. */
export const applyOutcomes = ['applied', 'partial', 'failed', 'interrupted', 'lost'] as const;

const outcomeWords: Readonly<Record<string, string>> = { partial: 'applied in part' };

const outcomeTones: Readonly<Record<string, string>> = {
  ...{ applied: 'create', partial: 'delete', failed: 'delete', interrupted: 'update', lost: 'update' },
};

/** @param words shown in place of those that the page of a stack shows */
export function outcomeBadge(outcome: string, words = outcomeWords[outcome] ?? outcome): Html {
  return html`<span class="action ${outcomeTones[outcome] ?? 'none'}">${words}</span>`;
}

const longestReason = 500;

/** For the row of a stack: that its apply waits, and for what. */
export function waitMark(stack: Row): Html | undefined {
  const waitsFor = textOf(stack['waits_for']);
  const words =
    waitsFor === undefined ? stack['is_apply_queued'] === true && queuedWords : waitingWords(waitsFor);
  return words === false ? undefined : html`<span class="field muted">apply ${words}</span>`;
}

/** For the page of a stack: what its apply waits for, since when, and why. */
export function waitBanner(stack: Row, now: number): Html | undefined {
  const waitsFor = textOf(stack['waits_for']);
  if (waitsFor === undefined) return undefined;
  const until = timeOf(stack['waits_until']);
  const tone = waitsFor === 'retry' || waitsFor === 'guard' ? 'warning' : '';
  const ends = until !== undefined && until > now && html`, until ${clockText(until)}`;
  const seconds = (now - (timeOf(stack['waits_since']) ?? now)) / 1000;
  return html`<p class="banner ${tone}">The apply ${waitingWords(waitsFor)} (for ${durationText(seconds)})${ends}: ${clip(String(stack['waits_reason']), 2000)}</p>`;
}

/** For the page of a stack: the plan that waits, as the last attempt made it. */
export function openPlanSection(stack: Row): Html | undefined {
  const plan = stack['waits_plan'] as OpenPlan | null | undefined;
  if (plan === null || plan === undefined) return undefined;
  const { digest, count, changes, guards } = plan;
  const more = count - changes.length;
  return html`<section><h2>Open plan</h2>
<p class="muted">Made by the last attempt to apply it; digest <code>${digest}</code>.</p>
${guards.length > 0 && html`<ul>${guards.map(({ id, effect, message }) => html`<li><code>${id}</code> ${effect}: ${message}</li>`)}</ul>`}
${table(
  ['Action', 'Resource'],
  changes.map(({ action, address }) => [actionBadge(action), html`<code>${address}</code>`]),
  'Changes of the open plan',
)}
${more > 0 && html`<p class="muted">${numberText(more)} more</p>`}
</section>`;
}

function actionBadge(action: string): Html {
  const tone = ['create', 'update', 'delete'].find((one) => one === action) ?? 'none';
  return html`<span class="action ${tone}">${action}</span>`;
}

/** @param stacks whose apply waits, in the order in which they will be applied */
export function waitTable(stacks: readonly Row[]): Html {
  return html`<p class="muted">When applies no longer have to wait, the stack that has waited the longest is applied first.</p>
${table(['Stack', 'Apply', 'Since', 'Until'], stacks.map(waitCells), 'Stacks whose apply waits')}`;
}

function waitCells(stack: Row): readonly Content[] {
  const now = timeOf(stack['time']) ?? 0;
  const until = timeOf(stack['waits_until']);
  return [
    stackLink(String(stack['repository']), String(stack['path'])),
    html`<span>${waitingWords(String(stack['waits_for']))}<span class="field muted">${clip(String(stack['waits_reason']), longestReason)}</span></span>`,
    timeText(timeOf(stack['waits_since']), now),
    until === undefined ? html`<span class="muted">open</span>` : dueText(until, now),
  ];
}

/** Applies on the page of a stack. Earlier ones are on the page Activity. */
const maxApplies = 50;

/** @returns undefined for a stack that the fleet never applied */
export async function appliesSection(
  reading: Reading,
  repository: string,
  path: string,
): Promise<Html | undefined> {
  const rows = await reading.rows(
    `with ${clock}
     select made.*, clock.time, made.leased_until > clock.time as leased from trueup_fleet.applies as made, clock
     where made.repository = $2 and made.path = $3 and ${inScope('made')}
     order by made.id desc limit ${maxApplies}`,
    ...[repository, path],
  );
  if (rows.length === 0) return undefined;
  return html`<section><h2>Applies</h2>
${table(['Started', 'Took', 'Outcome', 'Changes', 'Approved by', 'Commit'], rows.map(applyCells), 'Applies of the stack')}
${rows.length === maxApplies && html`<p class="muted">The last ${maxApplies} are shown.</p>`}
</section>`;
}

function applyCells(row: Row): readonly Content[] {
  const now = timeOf(row['time']) ?? 0;
  const [started, ended] = [timeOf(row['started']) ?? 0, timeOf(row['ended'])];
  const people = (row['people'] as readonly string[]).join(', ');
  return [
    html`<span>${clockText(started)} <span class="muted">(${timeText(started, now)})</span></span>`,
    ended === undefined ? '' : durationText((ended - started) / 1000),
    outcomeCell(row),
    textOf(row['changes']) ?? '',
    people,
    html`<code>${String(row['commit']).slice(0, 12)}</code>`,
  ];
}

function outcomeCell(row: Row): Html {
  const outcome = textOf(row['outcome']);
  if (outcome !== undefined) return html`<span>${outcomeBadge(outcome)}${reasonField(row)}</span>`;
  return row['leased'] === true
    ? html`<span class="action none">running</span>`
    : html`<span><span class="action update">silent</span><span class="field muted">its worker does not report; the next check continues it</span></span>`;
}

/** Why an apply ended as it did; undefined if it was complete. */
export function reasonField(row: Row): Html | undefined {
  const reason = textOf(row['reason']);
  if (reason === undefined) return undefined;
  const tone = isFailure(row) ? 'error' : 'muted';
  return html`<span class="field ${tone}">${clip(reason, longestReason)}</span>`;
}

/** Whether an apply failed. False if it was interrupted or lost: the next attempt continues it. */
function isFailure(row: Row): boolean {
  return row['outcome'] === 'failed' || row['outcome'] === 'partial';
}

/** Kinds of failures that are shown, at most. */
const maxFailures = 50;

/** @returns undefined when none failed */
export async function failedApplies(reading: Reading): Promise<Html | undefined> {
  const rows = await reading.rows(
    `with ${visibleStacks}
     select made.outcome, made.reason, count(distinct (repository, path))::integer as stacks, max(made.ended) as ended, seen.time,
       (array_agg(repository || chr(1) || path order by made.id desc))[1] as example
     from trueup_fleet.applies as made join seen using (repository, path)
     where made.outcome in ('failed', 'partial', 'lost') and made.ended > seen.time - interval '1 day'
     group by made.outcome, made.reason, seen.time order by stacks desc, ended desc, outcome, reason limit ${maxFailures}`,
  );
  if (rows.length === 0) return undefined;
  return html`<section><h2>Why applies failed within a day</h2>
${table(['Stacks', 'Outcome', 'Last one', 'For example'], rows.map(failureCells), 'Applies that failed')}
<p><a href="${link('/activity', { event: 'apply' })}">All applies</a></p>
</section>`;
}

function failureCells(row: Row): readonly Content[] {
  const [repository = '', path = ''] = String(row['example']).split('\u0001');
  return [
    numberText(Number(row['stacks'])),
    outcomeCell(row),
    timeText(timeOf(row['ended']), timeOf(row['time']) ?? 0),
    stackLink(repository, path),
  ];
}
