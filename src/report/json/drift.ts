/** Drift as JSON, valid against its schema. Of a secret it contains the same as a plan. */
import { formatAddress } from '../../model/address.ts';
import type { GivenAccess } from '../../model/access.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type {
  Drift,
  DriftedName,
  DriftedResource,
  DriftField,
  PendingResource,
  Unmanaged,
} from '../../model/drift.ts';
import type { DriftJson } from './drift-schema.ts';
import {
  coverageJson,
  fieldJson,
  lastModifiedJson,
  noticeJson,
  partMember,
  safeField,
  targetsJson,
} from './plan.ts';
import { addressMembers, diagnosticJson, diagnosticsMember, placeMember, renderJson } from './render-json.ts';

interface DriftJsonOptions {
  /** diagnostics of the command */
  readonly diagnostics?: readonly ShownDiagnostic[];
  /** redacts secrets in all texts */
  readonly clean?: <T extends object>(value: T) => T;
}

/** The text of the JSON, without a final line end. */
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
      changedNames: drift.changedNames.length,
      pending: drift.pending.length,
      unchanged: drift.unchanged,
      unrecorded: drift.unrecorded.length,
      untold: drift.undetermined.length,
    },
    drifted: drift.drifted.map(driftedJson),
    ...(drift.unmanaged === undefined ? {} : { unmanaged: unmanagedJson(drift.unmanaged) }),
    changedNames: drift.changedNames.map(nameJson),
    pending: drift.pending.map(pendingJson),
    unrecorded: drift.unrecorded.map(noticeJson),
    untold: drift.undetermined.map(noticeJson),
    ...(drift.access === undefined ? {} : { access: drift.access.map(accessJson) }),
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

function accessJson({ address, login, state }: GivenAccess): NonNullable<DriftJson['access']>[number] {
  const texts = (some: readonly string[]) => [...some];
  return {
    ...addressMembers(address),
    ...(login === undefined
      ? {}
      : {
          login: {
            ...login,
            accounts: texts(login.accounts),
            namespaces: texts(login.namespaces),
            policies: texts(login.policies),
          },
        }),
    ...(state === undefined ? {} : { state: { ...state, readers: texts(state.readers) } }),
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

function nameJson({ address, place, recorded, ...name }: DriftedName): DriftJson['changedNames'][number] {
  return { ...addressMembers(address), ...name, recorded: [...recorded], ...placeMember(place) };
}

function pendingJson({ address, is, fields, place }: PendingResource): DriftJson['pending'][number] {
  return { ...addressMembers(address), is, fields: fields.map(movedJson), ...placeMember(place) };
}

function movedJson(field: DriftField): DriftJson['drifted'][number]['fields'][number] {
  const { origin: _, unknown: __, ...shown } = fieldJson(safeField(field));
  return { ...shown, ...(field.both && { both: field.both }) };
}
