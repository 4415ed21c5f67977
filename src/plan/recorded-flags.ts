/**
 * What only the ledger records of a resource: `protect` and `onRemove` of one without an ownership tag, and owner and source of one that
 * moves between stacks. These are fields of a change, so that a plan shows them and an approval covers them; no request sends them.
 */
import type { FieldChange } from '../model/field.ts';
import type { Kind } from '../model/kind.ts';
import type { Metadata } from '../model/resource.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import type { Address } from '../model/address.ts';
import type { PlanContext } from './plan-context.ts';

type RemovalSettings = Pick<LedgerRecord, 'protect' | 'onRemove'>;

/** Whether only records keep the flags of this resource, and its removal depends on them. */
function keepsFlagsInLedger(context: Pick<PlanContext, 'kind' | 'isLedgerOwned'>, address: Address): boolean {
  const { ownership }: Kind = context.kind(address.kind);
  return (ownership.by === 'ledger' && ownership.undeclared === 'delete') || context.isLedgerOwned(address);
}

/**
 * The changes of the flags from a record to a declaration. A record without them means `protect: false` and no `onRemove`.
 * @param record undefined for a resource that does not exist yet
 */
export function flagChanges(
  context: Pick<PlanContext, 'kind' | 'isLedgerOwned'>,
  address: Address,
  { record, declared }: { readonly record: RemovalSettings | undefined; readonly declared: Metadata },
): FieldChange[] {
  if (!keepsFlagsInLedger(context, address)) return [];
  const [before, after] = [record && flagsOf(record), flagsOf(declared)];
  const isProtectChanged = (before?.protect ?? false) !== after.protect;
  return [
    ...(isProtectChanged ? [fieldChange('protect', before?.protect, after.protect)] : []),
    ...(before?.onRemove === after.onRemove
      ? []
      : [fieldChange('onRemove', before?.onRemove, after.onRemove)]),
  ];
}

function flagsOf({ protect = false, onRemove }: RemovalSettings) {
  return { protect, onRemove };
}

function fieldChange(
  name: keyof RemovalSettings,
  before: boolean | string | undefined,
  after: boolean | string | undefined,
): FieldChange {
  return {
    path: [name],
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    shape: 'scalar',
  };
}

/**
 * The change of the owner, if only ledgers record who owns the resource. Otherwise the change of the ownership tag shows it.
 * @param from the stack that the resource moves from
 */
export function ownerChanges(
  context: Pick<PlanContext, 'kind' | 'isLedgerOwned' | 'stack'>,
  address: Address,
  from: string | undefined,
): FieldChange[] {
  const isOnlyRecorded =
    context.kind(address.kind).ownership.by === 'ledger' || context.isLedgerOwned(address);
  if (from === undefined || !isOnlyRecorded) return [];
  return [{ path: ['stack'], before: from, after: context.stack.name, shape: 'scalar' }];
}

/** The ledger that gives the record away, as a field: an approval is for this ledger, and not for a copy in another folder. */
export function sourceChanges(
  { moves, recordedAt }: Pick<PlanContext, 'moves' | 'recordedAt'>,
  address: Address,
): FieldChange[] {
  const recorded = moves.ledgers.size === 0 ? undefined : recordedAt(address);
  const ledger = recorded === undefined ? undefined : moves.ledgers.get(recorded);
  return ledger === undefined ? [] : [{ path: ['movedFrom'], after: ledger, shape: 'scalar' }];
}

/** The value of a flag as the ledger has it. */
export const recordedFlags: Readonly<
  Record<string, (record: RemovalSettings | undefined) => boolean | string | undefined>
> = {
  protect: (record) => record?.protect ?? false,
  onRemove: (record) => record?.onRemove,
};

/** Whether a field change is of a flag, the owner or the source of a move, which only the ledger keeps: no call is made for it. */
export function isRecordedFlag({ path: [name = '', ...below] }: Pick<FieldChange, 'path'>): boolean {
  return (
    below.length === 0 && (name === 'stack' || name === 'movedFrom' || Object.hasOwn(recordedFlags, name))
  );
}

/** The field changes that are carried out by requests. */
export function sentFields(fields: readonly FieldChange[]): readonly FieldChange[] {
  return fields.filter((field) => !isRecordedFlag(field));
}
