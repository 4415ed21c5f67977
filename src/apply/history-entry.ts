/**
 * Makes the history entry of an apply: the planned changes with the former values, and their outcomes once it has ended. A secret in a
 * field change is stored as the summary that plans show; whole specs are stored without secrets.
 */
import { type Address, formatAddress, parseAddress } from '../model/address.ts';
import type { BegunResource, FieldChange } from '../model/field.ts';
import type { Json } from '../model/json.ts';
import type { Kind, Registry } from '../model/kind.ts';
import {
  type HistoryChange,
  type HistoryEntry,
  historyVersion,
  type Ledger,
  type LedgerRecord,
} from '../model/ledger.ts';
import type { Outcome } from '../model/change.ts';
import type { Plan } from '../model/plan.ts';
import type { ChangeForPolicies, ChangesForPolicies } from '../model/policy.ts';
import { formatIdentity } from '../model/stack.ts';
import { summarizeSecret } from '../redaction/mask-text.ts';

/** The members of an entry that do not come from the plan. */
type EntryHead = Pick<
  HistoryEntry,
  | 'id'
  | 'run'
  | 'began'
  | 'commit'
  | 'dirty'
  | 'uncommitted'
  | 'ignored'
  | 'commitKept'
  | 'clocks'
  | 'approvals'
  | 'acknowledged'
  | 'begunFields'
>;

/** @param ledger as it was before the apply: its records of removed resources are kept in the entry */
export function beginEntry(
  { stack, digest, targets, selection, part, changes, policies, unchanged }: Plan,
  head: EntryHead,
  { ledger, kinds, checked }: EntryContext,
): HistoryEntry {
  return {
    version: historyVersion,
    stack,
    ...head,
    digest,
    ...(selection === undefined
      ? {}
      : { part: { selected: selection.length, ...(part === undefined ? {} : { of: part.of }) } }),
    targets: Object.fromEntries(targets.map((target) => [target.name, formatIdentity(target)])),
    ...(policies === undefined ? {} : { policies }),
    unchanged,
    ...taggedMember(checked, kinds),
    ...relatedMember(checked, kinds),
    changes: changes.map(({ address, action, reason, fields }) => ({
      address: formatAddress(address),
      action,
      reason,
      fields: fields.map(withSecretSummary),
      ...(action === 'delete' || action === 'release' ? { was: recordedValues(address, ledger, kinds) } : {}),
      ...checkedMember(checked?.changes.get(formatAddress(address)), kinds.get(address.kind)),
    })),
  };
}

interface EntryContext {
  readonly ledger: Ledger;
  readonly kinds: Registry;
  /** what policies see: the changes, resources of which only tags change (`tagged`), and parents and references (`related`) */
  readonly checked?: ChangesForPolicies;
}

function taggedMember(
  checked: ChangesForPolicies | undefined,
  kinds: Registry,
): Pick<HistoryEntry, 'tagged'> {
  const all = [...(checked?.tagged ?? [])].map(
    ([address, record]) => [address, recordWithoutSecrets(record, kindAt(address, kinds))] as const,
  );
  return all.length === 0 ? {} : { tagged: Object.fromEntries(all) };
}

function kindAt(address: string, kinds: Registry): Kind | undefined {
  return kinds.get(parseAddress(address).kind);
}

function relatedMember(
  checked: ChangesForPolicies | undefined,
  kinds: Registry,
): Pick<HistoryEntry, 'related'> {
  const all = Object.entries(checked?.related ?? {});
  if (all.length === 0) return {};
  return {
    related: Object.fromEntries(
      all.map(([address, spec]) => [address, withoutSecrets(spec, kindAt(address, kinds))]),
    ),
  };
}

function checkedMember(
  checked: ChangeForPolicies | undefined,
  kind: Kind | undefined,
): Pick<HistoryChange, 'checked'> {
  return checked === undefined ? {} : { checked: recordWithoutSecrets(checked, kind) };
}

function recordWithoutSecrets({ before, after, ...rest }: ChangeForPolicies, kind: Kind | undefined) {
  return {
    ...rest,
    ...(before === undefined ? {} : { before: withoutSecrets(before, kind) }),
    ...(after === undefined ? {} : { after: withoutSecrets(after, kind) }),
  };
}

/** The recorded values of a removed resource and of its children. */
function recordedValues(
  address: Address,
  { records }: Ledger,
  kinds: Registry,
): HistoryChange['was'] & object {
  const children = [...kinds.values()].map(({ name }) => ({ ...address, kind: name }));
  const isChild = (child: Address) => {
    const ownership = kinds.get(child.kind)?.ownership;
    return ownership?.by === 'child' && formatAddress(ownership.of(child)) === formatAddress(address);
  };
  return Object.fromEntries(
    [address, ...children.filter(isChild)].flatMap((one) => {
      const record = records.get(formatAddress(one));
      return record === undefined
        ? []
        : [[formatAddress(one), knownValues(record, kinds.get(one.kind))] as const];
    }),
  );
}

function knownValues(
  { content, fields }: LedgerRecord,
  kind: Kind | undefined,
): Readonly<Record<string, Json>> {
  return withoutSecrets(content ?? fields, kind);
}

function withoutSecrets(
  values: Readonly<Record<string, Json>>,
  kind: Kind | undefined,
): Readonly<Record<string, Json>> {
  const isSecret = (name: string) => kind?.fields[name]?.compare.shape === 'secret';
  return Object.fromEntries(Object.entries(values).filter(([name]) => !isSecret(name)));
}

/** The entry without the fields that were open at its begin: the end lists those that are left. @param ended RFC 3339 */
export function endEntry(begun: HistoryEntry, outcomes: readonly Outcome[], ended: string): HistoryEntry {
  const { begunFields: _, ...entry } = begun;
  const byAddress = new Map(outcomes.map((outcome) => [formatAddress(outcome.address), outcome]));
  return {
    ...entry,
    ended,
    changes: entry.changes.map((change) => {
      const outcome = byAddress.get(change.address);
      if (outcome === undefined) return change;
      const { kind, detail, done, requests, unnamed, inDoubt, foundTrue } = outcome;
      return {
        ...change,
        outcome: kind,
        ...(detail === undefined ? {} : { detail }),
        ...(done === undefined ? {} : { done }),
        ...(requests === undefined ? {} : { requests }),
        ...(unnamed && { unnamed }),
        ...(inDoubt && { inDoubt }),
        ...(foundTrue && { foundTrue }),
      };
    }),
  };
}

/** What applies may have written without a record, as an entry lists it. @param evenEmpty an empty list says that nothing is left */
export function listedFields(
  all: readonly BegunResource[],
  evenEmpty: boolean,
): Pick<HistoryEntry, 'begunFields'> {
  if (all.length === 0 && !evenEmpty) return {};
  return {
    begunFields: all.map(({ fields, ...one }) => ({ ...one, fields: fields.map(withSecretSummary) })),
  };
}

/** A canonical secret is already a summary; this makes sure of it even if a kind returns something else. */
function withSecretSummary(change: FieldChange): FieldChange {
  if (change.shape !== 'secret') return change;
  const { before, after, ...rest } = change;
  return {
    ...rest,
    ...(before === undefined ? {} : { before: summary(before) }),
    ...(after === undefined ? {} : { after: summary(after) }),
  };
}

function summary(value: Json): Json {
  return value === null ? null : { ...summarizeSecret(value) };
}
