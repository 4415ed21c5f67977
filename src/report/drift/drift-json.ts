/** Drift as JSON. Valid against `drift-schema`; of a secret it has what a plan has. */
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type {
  Drift,
  DriftedResource,
  MovedField,
  PendingResource,
  Unmanaged,
} from '../../model/plan/drift.ts';
import { formatAddress } from '../../model/resource/address.ts';
import { addressMembers } from '../json/address-members.ts';
import { renderJson } from '../json/canonical-json.ts';
import { diagnosticJson, diagnosticsMember, placeMember } from '../json/diagnostics-json.ts';
import { coverageJson, fieldJson, noticeJson, safeField, targetsJson } from '../json/plan-json.ts';
import { lastModifiedJson } from '../touched/touched-json.ts';
import type { DriftJson } from './drift-schema.ts';

interface DriftJsonOptions {
  /** diagnostics of the command */
  readonly told?: readonly ShownDiagnostic[];
  /** redacts secrets in all texts */
  readonly clean?: <T extends object>(value: T) => T;
}

/** Without a final line end. */
export function renderDriftJson(
  drift: Drift,
  { told = [], clean = (all) => all }: DriftJsonOptions = {},
): string {
  return renderJson(clean({ ...membersOf(drift), ...diagnosticsMember(told) }));
}

function membersOf(drift: Drift): DriftJson {
  return {
    version: 1,
    stack: drift.stack,
    complete: drift.complete,
    targets: targetsJson(drift.targets),
    ...(drift.selection === undefined ? {} : { selection: [...drift.selection] }),
    summary: {
      drifted: drift.drifted.length,
      pending: drift.pending.length,
      unchanged: drift.unchanged,
      unrecorded: drift.unrecorded.length,
      untold: drift.untold.length,
    },
    drifted: drift.drifted.map(driftedJson),
    ...(drift.unmanaged === undefined ? {} : { unmanaged: unmanagedJson(drift.unmanaged) }),
    pending: drift.pending.map(pendingJson),
    unrecorded: drift.unrecorded.map(noticeJson),
    untold: drift.untold.map(noticeJson),
    problems: drift.problems.map(diagnosticJson),
    coverage: coverageJson(drift.coverage),
  };
}

function driftedJson(drifted: DriftedResource): DriftJson['drifted'][number] {
  const { address, is, id, newId, fields, notes, declaredAs, touched } = drifted;
  return {
    ...addressMembers(address),
    is,
    ...(id === undefined ? {} : { id }),
    ...(newId === undefined ? {} : { newId }),
    fields: fields.map(movedJson),
    notes: [...notes],
    ...(declaredAs === undefined ? {} : { declaredAs: formatAddress(declaredAs) }),
    ...(touched === undefined ? {} : { touched: lastModifiedJson(touched) }),
  };
}

function unmanagedJson({ resources, unseen }: Unmanaged): NonNullable<DriftJson['unmanaged']> {
  return {
    resources: resources.map(({ address, id, fields, touched }) => ({
      ...addressMembers(address),
      ...(id === undefined ? {} : { id }),
      fields: fields.map(movedJson),
      ...(touched === undefined ? {} : { touched: lastModifiedJson(touched) }),
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
