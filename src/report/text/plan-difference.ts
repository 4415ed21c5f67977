/** The difference of two plans for a terminal: changes that only one has, changes that differ, and different targets. */
import { formatAddress } from '../../model/address.ts';
import type { Action } from '../../model/change.ts';
import type { FieldChange } from '../../model/field.ts';
import type {
  ChangedName,
  ChangeDifference,
  FieldDifference,
  PlanDifference,
  PlanTarget,
  TargetDifference,
} from '../../model/plan.ts';
import { actionSymbols, paintAction } from './change.ts';
import { fieldLines } from './field.ts';
import { fieldViews, formatPath } from '../view/field.ts';
import { columns, inColumn, indent, nameColumn, pad, type Paint } from './layout.ts';
import { printable } from '../view/printable.ts';

interface PlanDifferenceOptions {
  readonly paint: Paint;
  /** the names of the two plans: `approved`, `plan-a.json` */
  readonly names: { readonly one: string; readonly other: string };
  /** columns of the terminal; default 100 */
  readonly width?: number;
  /** maximum number of resources listed in a section; the others are counted */
  readonly most?: number;
}

interface Layout {
  readonly paint: Paint;
  readonly names: PlanDifferenceOptions['names'];
  readonly width: number;
  readonly most: number;
}

/** Empty when the two mean the same. Without a final line end. */
export function renderPlanDifference(difference: PlanDifference, options: PlanDifferenceOptions): string {
  const { one, other } = options.names;
  const layout: Layout = {
    paint: options.paint,
    names: { one: printable(one), other: printable(other) },
    width: Math.max(40, options.width ?? 100),
    most: options.most ?? Number.POSITIVE_INFINITY,
  };
  const { changes } = difference;
  const sections = [
    placeLines(difference, layout),
    section(
      `Only in ${layout.names.one}`,
      changes.filter((change) => change.other === undefined),
      layout,
    ),
    section(
      `Only in ${layout.names.other}`,
      changes.filter((change) => change.one === undefined),
      layout,
    ),
    section(
      'In both, and different',
      changes.filter((change) => change.one !== undefined && change.other !== undefined),
      layout,
    ),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function placeLines({ stack, targets, selection, selectors }: PlanDifference, layout: Layout): string[] {
  const rows = [
    ...(stack === undefined
      ? []
      : sideLines('stack', { one: printable(stack.one), other: printable(stack.other) }, layout)),
    ...targets.flatMap((target) =>
      sideLines(`target ${printable(target.name)}`, targetSides(target), layout),
    ),
    ...(selection === undefined
      ? []
      : sideLines(
          'selection',
          { one: selectionText(selection.one), other: selectionText(selection.other) },
          layout,
        )),
    ...(selectors === undefined
      ? []
      : sideLines(
          '--select',
          { one: selectorsText(selectors.one), other: selectorsText(selectors.other) },
          layout,
        )),
  ];
  return rows.length === 0
    ? []
    : [layout.paint.heading('Different stack, targets or selection'), ...indent(rows, 2)];
}

function selectionText(selection: readonly string[] | undefined): string {
  return selection === undefined ? 'the whole stack' : selection.map(printable).join(', ');
}

function selectorsText(selectors: readonly string[] | undefined): string {
  return selectors === undefined ? 'not used' : selectors.map(printable).join(', ');
}

function targetSides({ one, other }: TargetDifference) {
  return { one: placeOf(one), other: placeOf(other) };
}

function placeOf(target: PlanTarget | undefined): string {
  if (target === undefined) return 'not a target';
  const { service, place, url, dialect } = target;
  return printable(`${service} ${place} at ${url}, dialect ${dialect}`);
}

/** A name, and below it the text of each plan. */
function sideLines(name: string, texts: Layout['names'], { names, paint }: Layout): string[] {
  const column = nameColumn(Object.values(names));
  return [
    name,
    ...indent(
      [
        paint.removed(inColumn(names.one, column) + texts.one),
        paint.added(inColumn(names.other, column) + texts.other),
      ],
      2,
    ),
  ];
}

function section(heading: string, changes: readonly ChangeDifference[], layout: Layout): string[] {
  if (changes.length === 0) return [];
  const shown = changes.slice(0, layout.most);
  const left = changes.length - shown.length;
  return [
    layout.paint.heading(heading),
    ...shown.flatMap((change) => indent(changeLines(change, layout), 2)),
    ...(left === 0 ? [] : [`  and ${left} more: "trueup diff" and "--format json" list all`]),
  ];
}

function changeLines(change: ChangeDifference, layout: Layout): string[] {
  const { one, other, address, fields } = change;
  const name = layout.paint.bold(printable(formatAddress(address)));
  const head = `${actionWord(one ?? other ?? 'none', layout.paint)} ${name}`;
  if (one === undefined || other === undefined)
    return [head, ...indent([...nameLines(change, layout), ...fullFields(change, layout)], 4)];
  const actions = one === other ? [] : sideLines('action', { one, other }, layout);
  return [
    head,
    ...indent(
      [
        ...actions,
        ...identityLines(change, layout),
        ...nameLines(change, layout),
        ...fields.flatMap((field) => fieldRows(field, layout)),
      ],
      4,
    ),
  ];
}

/** Which resource each plan is about, if they differ: two resources may have the same name. */
function identityLines({ ids, fingerprints, references = [] }: ChangeDifference, layout: Layout): string[] {
  return [
    ...(ids === undefined ? [] : sideLines('id', idSides(ids), layout)),
    ...(fingerprints === undefined ? [] : sideLines('fingerprint', idSides(fingerprints), layout)),
    ...references.flatMap(({ address, ...both }) =>
      sideLines(`id of ${printable(address)}`, referenceSides(address, both), layout),
    ),
  ];
}

function nameLines({ names = [] }: ChangeDifference, layout: Layout): string[] {
  return names.flatMap(({ name, one, other }) =>
    sideLines(`name ${printable(name)}`, { one: nameText(one), other: nameText(other) }, layout),
  );
}

function nameText(name: ChangedName | undefined): string {
  if (name === undefined) return 'what the ledger has';
  const { id, recorded } = name;
  const before = recorded.length === 0 ? '' : `; the ledger has ${recorded.join(', ')}`;
  return printable(`${id}${before}`);
}

function referenceSides(address: string, { one, other }: NonNullable<ChangeDifference['ids']>) {
  const word = (id: string | undefined) => (id === address ? 'to be created' : id);
  return idSides({ ...defined('one', word(one)), ...defined('other', word(other)) });
}

function defined(side: 'one' | 'other', id: string | undefined) {
  return id === undefined ? {} : { [side]: id };
}

function idSides({ one = 'none', other = 'none' }: NonNullable<ChangeDifference['ids']>): Layout['names'] {
  return { one: printable(one), other: printable(other) };
}

function actionWord(action: Action, paint: Paint): string {
  return paintAction(action, paint)(`${actionSymbols[action]} ${pad(action, 7)}`);
}

/** All fields of a change that only one plan has. */
function fullFields({ one, other, fields }: ChangeDifference, { paint, width }: Layout): string[] {
  const action = one ?? other;
  const views = fields.flatMap((field) =>
    fieldViews(field.one ?? field.other ?? { path: [], shape: 'scalar' }),
  );
  return fieldLines(views, { paint, width: width - 6, whole: action === 'create' || action === 'delete' });
}

function fieldRows({ path, one, other }: FieldDifference, layout: Layout): string[] {
  const { names, paint, width } = layout;
  // An approval from the ledger has no shapes: take the shape from the other plan.
  const shape = [one, other].find((side) => side !== undefined && side.shape !== 'scalar')?.shape ?? 'scalar';
  const sides: readonly (readonly [string, FieldChange | undefined])[] = [
    [names.one, one],
    [names.other, other],
  ];
  const label = Math.max(columns(names.one), columns(names.other));
  const rows = sides.flatMap(([name, side]) => {
    if (side === undefined) return [`${pad(name, label)}  ${paint.dim('not changed')}`];
    const views = fieldViews({ ...side, shape });
    const named = views.map((view) => ({
      ...view,
      name: views.length === 1 ? pad(name, label) : `${pad(name, label)} ${view.name}`,
    }));
    return fieldLines(named, { paint, width: width - 8, whole: false });
  });
  return [formatPath(path), ...indent(rows, 2)];
}
