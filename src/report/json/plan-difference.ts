/** The difference of two plans as JSON: members in a fixed order, secrets without their values. */
import { formatAddress } from '../../model/address.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { type FieldChange, jsonPointer } from '../../model/field.ts';
import type { ChangedName, ChangeDifference, PlanDifference } from '../../model/plan.ts';
import { diagnosticsMember, renderJson } from './render-json.ts';
import { fieldJson, safeField } from './plan.ts';

/** One of the two plans: its name in the report, and its digest. */
interface ComparedPlan {
  readonly name: string;
  readonly digest: string;
}

/** `{ version: 1, same, one, other, stack?, targets, selection?, selectors?, changes, diagnostics? }` */
export function renderPlanDifferenceJson(
  difference: PlanDifference,
  { one, other }: { readonly one: ComparedPlan; readonly other: ComparedPlan },
  diagnostics: readonly ShownDiagnostic[] = [],
): string {
  const { stack, targets, selection, selectors, changes } = difference;
  const isSameStack = stack === undefined && selection === undefined && selectors === undefined;
  return renderJson({
    version: 1,
    same: isSameStack && targets.length === 0 && changes.length === 0,
    one,
    other,
    ...(stack === undefined ? {} : { stack }),
    targets,
    ...(selection === undefined ? {} : { selection }),
    ...(selectors === undefined ? {} : { selectors }),
    changes: changes.map(changeJson),
    ...diagnosticsMember(diagnostics),
  });
}

function changeJson({ address, one, other, ids, fingerprints, references, names, fields }: ChangeDifference) {
  return {
    address: formatAddress(address),
    ...address,
    ...member('one', one),
    ...member('other', other),
    ...member('ids', ids),
    ...member('fingerprints', fingerprints),
    ...member('references', references),
    ...member(
      'names',
      names?.map((found) => ({
        name: found.name,
        ...member('one', found.one && nameJson(found.one)),
        ...member('other', found.other && nameJson(found.other)),
      })),
    ),
    fields: fields.map((field) => ({
      path: jsonPointer(field.path),
      ...member('one', field.one && sideJson(field.one)),
      ...member('other', field.other && sideJson(field.other)),
    })),
  };
}

function nameJson({ id, recorded, recordedAs }: ChangedName) {
  return { id, recorded, ...member('recordedAs', recordedAs) };
}

function sideJson(field: FieldChange) {
  const { path: _, ...side } = fieldJson(safeField(field));
  return side;
}

function member(name: string, value: unknown) {
  return value === undefined ? {} : { [name]: value };
}
