/**
 * Drift for a terminal and as JSON: changes in the targets, changes in the files, and a summary. Only this file may say "No
 * drift", and only after a complete read. The JSON is valid against `schema.ts`, and redacts secrets as a plan does.
 */
import { type Address, formatAddress } from '../../model/address.ts';
import { hasErrors, type ShownDiagnostic } from '../../model/diagnostic.ts';
import type { Drift, DriftedResource, MovedField, PendingResource, Unmanaged } from '../../model/drift.ts';
import { counted, quoted, quotedUnlessPlain } from '../../model/quoted.ts';
import {
  coverageJson,
  fieldJson,
  lastModifiedJson,
  noticeJson,
  partMember,
  safeField,
  targetsJson,
} from '../../report/json/plan.ts';
import {
  addressMembers,
  diagnosticJson,
  diagnosticsMember,
  placeMember,
  renderJson,
} from '../../report/json/render-json.ts';
import { formatPlace, type PlanLayout, withLastModified } from '../../report/text/change.ts';
import { fieldLines } from '../../report/text/field.ts';
import { columns, indent, labelled, pad, type Paint, wrap } from '../../report/text/layout.ts';
import {
  coverageLines,
  limitSections,
  noticeLines,
  partLines,
  problemLines,
  selectionLines,
  targetHeading,
} from '../../report/text/plan.ts';
import { fieldViews } from '../../report/view/field.ts';
import { incompleteReasons, withoutSelection } from '../../report/view/plan-summary.ts';
import { printable } from '../../report/view/printable.ts';
import type { DriftJson } from './schema.ts';

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
            `of ${counted(unseen, 'resource')} the ledger has no values of fields that are in no manifest: the next apply records them`,
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
  const { paint, width } = layout;
  const { symbol, emphasis, says } = pendingWords[is];
  const verb = `${symbol} ${pad(is, 9)}`;
  const where = place === undefined ? '' : formatPlace(place);
  const gap = Math.max(2, width - columns(`${verb} ${printable(formatAddress(address))}`) - columns(where));
  const head = `${paint[emphasis](verb)} ${nameOf(address, paint)}${where === '' ? '' : ' '.repeat(gap) + paint.dim(where)}`;
  const body = [
    ...(says === undefined ? [] : [paint.dim(says)]),
    ...movedLines(fields, 'live changed, too', layout),
  ];
  return [head, ...indent(body, 4)];
}

function nameOf(address: Address, paint: Paint): string {
  return paint.bold(paint.link(printable(formatAddress(address)), address));
}

function movedLines(fields: readonly MovedField[], mark: string, { paint, width }: PlanLayout): string[] {
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
export function driftSummary({ drifted, pending, unmanaged, unchanged, complete }: Drift): string {
  const found =
    drifted.length > 0
      ? `${drifted.length} drifted`
      : complete
        ? 'No drift'
        : 'Found nothing that drifted, but the read was incomplete';
  const waiting = pending.length === 0 ? 'nothing pending' : `${pending.length} pending`;
  const besides = unmanaged === undefined ? '' : ` ${unmanaged.resources.length} with unmanaged changes,`;
  return `${found},${besides} ${waiting}, ${unchanged} as last applied`;
}

/**
 * What to do now, in a sentence.
 * @param stack the stack's argument on the command line; absent for the one in the working directory
 */
export function nextStepOf({ drifted, pending, problems, complete, part }: Drift, stack?: string): string {
  const line = (name: string, argument: string | undefined) =>
    quoted(['trueup', name, ...(argument === undefined ? [] : [argument])].join(' '));
  const command = (name: string) => line(name, stack);
  if (hasErrors(problems) || !complete)
    return `The report is incomplete. Fix the read errors and run ${command('drift')} again.`;
  if (drifted.length > 0)
    return `${command('plan')} shows how to take it back, ${line('accept', withoutSelection(stack, part))} writes what is live into the manifests.`;
  return pending.length > 0 ? `${command('plan')} shows what is pending.` : 'There is nothing to do.';
}

// Drift as JSON; of a secret it has what a plan has.

interface DriftJsonOptions {
  /** diagnostics of the command */
  readonly diagnostics?: readonly ShownDiagnostic[];
  /** redacts secrets in all texts */
  readonly clean?: <T extends object>(value: T) => T;
}

/** Without a final line end. */
export function renderDriftJson(
  drift: Drift,
  { diagnostics = [], clean = (all) => all }: DriftJsonOptions = {},
): string {
  return renderJson(clean({ ...membersOf(drift), ...diagnosticsMember(diagnostics) }));
}

function membersOf(drift: Drift): DriftJson {
  return {
    version: 1,
    stack: drift.stack,
    complete: drift.complete,
    targets: targetsJson(drift.targets),
    ...(drift.selection === undefined ? {} : { selection: [...drift.selection] }),
    ...partMember(drift),
    summary: {
      drifted: drift.drifted.length,
      pending: drift.pending.length,
      unchanged: drift.unchanged,
      unrecorded: drift.unrecorded.length,
      untold: drift.undetermined.length,
    },
    drifted: drift.drifted.map(driftedJson),
    ...(drift.unmanaged === undefined ? {} : { unmanaged: unmanagedJson(drift.unmanaged) }),
    pending: drift.pending.map(pendingJson),
    unrecorded: drift.unrecorded.map(noticeJson),
    untold: drift.undetermined.map(noticeJson),
    problems: drift.problems.map(diagnosticJson),
    coverage: coverageJson(drift.coverage),
  };
}

function driftedJson(drifted: DriftedResource): DriftJson['drifted'][number] {
  const { address, is, id, newId, fields, notes, declaredAs, lastModified } = drifted;
  return {
    ...addressMembers(address),
    is,
    ...(id === undefined ? {} : { id }),
    ...(newId === undefined ? {} : { newId }),
    fields: fields.map(movedJson),
    notes: [...notes],
    ...(declaredAs === undefined ? {} : { declaredAs: formatAddress(declaredAs) }),
    ...(lastModified === undefined ? {} : { touched: lastModifiedJson(lastModified) }),
  };
}

function unmanagedJson({ resources, unseen }: Unmanaged): NonNullable<DriftJson['unmanaged']> {
  return {
    resources: resources.map(({ address, id, fields, lastModified }) => ({
      ...addressMembers(address),
      ...(id === undefined ? {} : { id }),
      fields: fields.map(movedJson),
      ...(lastModified === undefined ? {} : { touched: lastModifiedJson(lastModified) }),
    })),
    unseen,
  };
}

function pendingJson({ address, is, fields, place }: PendingResource): DriftJson['pending'][number] {
  return { ...addressMembers(address), is, fields: fields.map(movedJson), ...placeMember(place) };
}

function movedJson(field: MovedField): DriftJson['drifted'][number]['fields'][number] {
  const { origin: _, unknown: __, ...shown } = fieldJson(safeField(field));
  return { ...shown, ...(field.both && { both: field.both }) };
}
