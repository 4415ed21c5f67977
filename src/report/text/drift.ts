/**
 * Drift for a terminal: changes in the targets, names that refer to other objects, changes in the files, and a summary. Only this
 * file may say "No drift", and only after a complete read.
 */
import { type Address, formatAddress } from '../../model/address.ts';
import { hasErrors, type Place } from '../../model/diagnostic.ts';
import type { Drift, DriftedName, DriftedResource, DriftField, PendingResource } from '../../model/drift.ts';
import { counted, quoted, quotedUnlessPlain } from '../../model/quoted.ts';
import { formatPlace, type PlanLayout, withLastModified } from './change.ts';
import { fieldLines } from './field.ts';
import { columns, indent, labelled, pad, type Paint, wrap } from './layout.ts';
import {
  coverageLines,
  limitSections,
  noticeLines,
  partLines,
  problemLines,
  selectionLines,
  targetHeading,
} from './plan.ts';
import { fieldViews } from '../view/field.ts';
import { incompleteReasons, withoutSelection } from '../view/plan-summary.ts';
import { printable } from '../view/printable.ts';

interface DriftTextOptions {
  readonly paint: Paint;
  /** columns of the terminal; default 100 */
  readonly width?: number;
  /** milliseconds since 1970 */
  readonly now: number;
}

/** The whole report, without a final line end. */
export function renderDrift(drift: Drift, options: DriftTextOptions): string {
  const { paint, now, width = 100 } = options;
  const layout = { paint, now, calls: false, width: Math.max(40, width) };
  const sections = [
    partLines(drift, layout),
    ...limitSections(drift, layout),
    ...driftedSections(drift, layout),
    ...unmanagedSections(drift, layout),
    ...nameSections(drift, layout),
    ...pendingSections(drift, layout),
    noticeLines(drift.unrecorded, layout, 'Not in the ledger'),
    noticeLines(drift.undetermined, layout, 'Not known whether it drifted'),
    problemLines(drift, layout),
    closingLines(drift, layout),
    coverageLines(drift, layout),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

const driftedWords = {
  changed: { symbol: '~', emphasis: 'changed' },
  gone: { symbol: '-', emphasis: 'removed' },
  recreated: { symbol: '*', emphasis: 'changed' },
} as const;

function driftedSections({ drifted, targets }: Drift, layout: PlanLayout): string[][] {
  if (drifted.length === 0) return [];
  const { paint } = layout;
  const blocks = targets.flatMap((target) => {
    const here = drifted.filter(({ address }) => address.target === target.name);
    return here.length === 0
      ? []
      : [[targetHeading(target, paint)], ...here.map((one) => driftedLines(one, layout))];
  });
  return [[paint.heading('Drift: changed in the targets since the last apply')], ...blocks];
}

function driftedLines(drifted: DriftedResource, layout: PlanLayout): string[] {
  const { paint, width } = layout;
  const { symbol, emphasis } = driftedWords[drifted.is];
  const verb = paint[emphasis](`${symbol} ${pad(drifted.is, 9)}`);
  const found = [
    ...identityLines(drifted, layout),
    ...movedLines(drifted.fields, 'the files changed it, too', layout),
  ];
  const body = [
    ...withLastModified(found, drifted.lastModified, {
      ...layout,
      width: width - 4,
      beside: drifted.is === 'changed',
    }),
    ...drifted.notes.flatMap((note) => labelled('note: ', printable(note), width - 4)),
  ];
  return [`${verb} ${nameOf(drifted.address, paint)}`, ...indent(body, 4)];
}

function identityLines({ is, id, newId }: DriftedResource, { paint, width }: PlanLayout): string[] {
  const was = id === undefined ? '' : ` (${quotedUnlessPlain(id)})`;
  if (is === 'gone')
    return wrap(printable(`applied by this stack${was}, and no longer there`), width - 4).map(paint.dim);
  if (is === 'recreated')
    return wrap(
      printable(
        `another one has its name now: ${quotedUnlessPlain(id ?? '')} was applied, ${quotedUnlessPlain(newId ?? '')} is live`,
      ),
      width - 4,
    ).map(paint.dim);
  return [];
}

function unmanagedSections({ unmanaged }: Drift, layout: PlanLayout): string[][] {
  const { resources = [], unseen = 0 } = unmanaged ?? {};
  const { paint, width } = layout;
  const unseenLines =
    unseen === 0
      ? []
      : [
          wrap(
            `for ${counted(unseen, 'resource')}, the ledger has no values of fields outside the manifests: the next apply records them`,
            width,
          ),
        ];
  const heading = paint.heading('Unmanaged: changed in the targets, and in no manifest');
  const blocks = resources.map(({ address, fields, lastModified }) => [
    `${paint.changed('~ changed  ')} ${nameOf(address, paint)}`,
    ...indent(
      withLastModified(movedLines(fields, '', layout), lastModified, {
        ...layout,
        width: width - 4,
        beside: true,
      }),
      4,
    ),
  ]);
  return resources.length + unseen === 0 ? [] : [[heading], ...blocks, ...unseenLines];
}

export const namesHeading = 'Names that refer to other objects than at the last apply';

function nameSections({ changedNames }: Drift, layout: PlanLayout): string[][] {
  if (changedNames.length === 0) return [];
  return [[layout.paint.heading(namesHeading)], ...changedNames.map((one) => nameLines(one, layout))];
}

function nameLines({ address, place, message, fix }: DriftedName, layout: PlanLayout): string[] {
  const width = layout.width - 4;
  const body = [...wrap(printable(message), width), ...labelled('fix: ', printable(fix), width)];
  return [headLine({ address, place, verb: '~ name     ', emphasis: 'changed' }, layout), ...indent(body, 4)];
}

export const pendingWords = {
  new: { symbol: '+', emphasis: 'added', says: 'declared, and not in the ledger' },
  changed: { symbol: '~', emphasis: 'changed', says: undefined },
  dropped: { symbol: '-', emphasis: 'removed', says: 'no longer declared' },
  removed: { symbol: '-', emphasis: 'removed', says: 'its document asks for its removal' },
} as const;

function pendingSections({ pending }: Drift, layout: PlanLayout): string[][] {
  if (pending.length === 0) return [];
  const heading = layout.paint.heading('Pending: changed in the files since the last apply');
  return [[heading], ...pending.map((one) => pendingLines(one, layout))];
}

function pendingLines({ address, is, fields, place }: PendingResource, layout: PlanLayout): string[] {
  const { symbol, emphasis, says } = pendingWords[is];
  const body = [
    ...(says === undefined ? [] : [layout.paint.dim(says)]),
    ...movedLines(fields, 'live changed, too', layout),
  ];
  return [
    headLine({ address, place, verb: `${symbol} ${pad(is, 9)}`, emphasis }, layout),
    ...indent(body, 4),
  ];
}

interface HeadLine {
  readonly address: Address;
  readonly place: Place | undefined;
  readonly verb: string;
  readonly emphasis: 'added' | 'changed' | 'removed';
}

/** One line: what happened, the address, and the place at the right edge. */
function headLine({ address, place, verb, emphasis }: HeadLine, { paint, width }: PlanLayout): string {
  const where = place === undefined ? '' : formatPlace(place);
  const gap = Math.max(2, width - columns(`${verb} ${printable(formatAddress(address))}`) - columns(where));
  return `${paint[emphasis](verb)} ${nameOf(address, paint)}${where === '' ? '' : ' '.repeat(gap) + paint.dim(where)}`;
}

function nameOf(address: Address, paint: Paint): string {
  return paint.bold(paint.link(printable(formatAddress(address)), address));
}

function movedLines(fields: readonly DriftField[], mark: string, { paint, width }: PlanLayout): string[] {
  const views = fields.flatMap(({ both, ...field }) => fieldViews(both ? { ...field, origin: mark } : field));
  return fieldLines(views, { paint, width: width - 4, whole: false });
}

function closingLines(drift: Drift, { paint, width }: PlanLayout): string[] {
  const reasons = drift.complete
    ? []
    : driftReasons(drift).flatMap((why) => labelled('because ', why, width - 2));
  const warning = drift.complete
    ? []
    : ['The read was incomplete: more may have drifted than was found', ...indent(reasons, 2)];
  return [
    ...warning.map(paint.warning),
    ...wrap(driftSummary(drift), width).map(paint.bold),
    ...selectionLines(drift, paint),
    `${paint.dim('stack')} ${printable(drift.stack)}`,
  ];
}

/** Why the read was incomplete, as clauses. */
export function driftReasons(drift: Drift): string[] {
  const { undetermined, unrecorded } = drift;
  const reasons = incompleteReasons(drift);
  if (reasons.length > 0) return reasons;
  return undetermined.length > 0
    ? ['not every recorded resource could be read']
    : unrecorded.length > 0
      ? ['the ledger lacks resources of this stack: if it was lost, rebuild it with "trueup recover"']
      : [];
}

/** `2 drifted, nothing pending, 5 as last applied` */
export function driftSummary(drift: Drift): string {
  const { pending, unmanaged, unchanged } = drift;
  const waiting = pending.length === 0 ? 'nothing pending' : `${pending.length} pending`;
  const besides = unmanaged === undefined ? [] : [`${unmanaged.resources.length} with unmanaged changes`];
  return [...foundDrift(drift), ...besides, waiting, `${unchanged} as last applied`].join(', ');
}

function foundDrift({ drifted, changedNames, complete }: Drift): string[] {
  if (drifted.length + changedNames.length === 0)
    return [complete ? 'No drift' : 'Found nothing that drifted, but the read was incomplete'];
  const names = counted(
    changedNames.length,
    'name that refers to another object',
    'names that refer to other objects',
  );
  return [
    ...(drifted.length === 0 ? [] : [`${drifted.length} drifted`]),
    ...(changedNames.length === 0 ? [] : [names]),
  ];
}

/**
 * What to do now, in a sentence.
 * @param stack the stack's argument on the command line; absent for the one in the working directory
 */
export function nextStepOf(drift: Drift, stack?: string): string {
  const { drifted, changedNames, pending, problems, complete, part } = drift;
  const commandWith = (name: string, argument: string | undefined) =>
    quoted(['trueup', name, ...(argument === undefined ? [] : [argument])].join(' '));
  const command = (name: string) => commandWith(name, stack);
  if (hasErrors(problems) || !complete)
    return `The report is incomplete. Fix the read errors and run ${command('drift')} again.`;
  const accept = commandWith('accept', withoutSelection(stack, part));
  if (drifted.length > 0)
    return `${command('plan')} shows how to take it back, ${accept} writes what is live into the manifests.`;
  if (changedNames.length > 0)
    return `Give the objects their names back in the service, or ${accept} writes the names that they have now into the manifests. ${command('plan')} shows what an apply would do instead.`;
  return pending.length > 0 ? `${command('plan')} shows what is pending.` : 'There is nothing to do.';
}
