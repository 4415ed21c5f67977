/** The records of declared resources once the plan is carried out. Only apply needs them, so each is made when it is first used. */
import { contentAfter } from '../compare/comparisons.ts';
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { CallId } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import type { Answer } from '../model/http.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import { type DesiredResource, parseOwnershipTag } from '../model/resource.ts';
import { seenValues, writtenContent } from './compare-resource.ts';
import type { Draft } from './draft-declared.ts';
import { withoutStaleContent } from './last-written.ts';
import type { PlanContext } from './plan-context.ts';
import type { RecheckMoment } from './recheck.ts';
import { checkResponses, type ResponseCheck } from './verify-responses.ts';

type DeclaredDraft = Draft & Required<Pick<Draft, 'recording'>>;

function isDeclared(draft: Draft): draft is DeclaredDraft {
  return draft.recording !== undefined;
}

export interface RecordDraft {
  readonly draft: Draft;
  readonly record: LedgerRecord;
  /** the current record of this resource; undefined if the plan creates it, even if another resource had its name before */
  readonly known: LedgerRecord | undefined;
  /**
   * It is already as declared, and ours: nothing has to be done. Other users have set the values of a child whose
   * parent is still to be taken over: if they were recorded as ours, they would be removed with its document.
   */
  readonly isUpToDate: boolean;
}

/** @param all the drafts of the whole stack, also for a plan of a part: a parent outside of the part may not be ours yet */
export function recordsOf(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
  all: ReadonlyMap<AddressText, Draft>,
): ReadonlyMap<AddressText, RecordDraft> {
  const make = (draft: DeclaredDraft) =>
    withoutStaleContent(context, drafts, recordAfter(context, draft), draft.change.address);
  const records = new Map<AddressText, RecordDraft>();
  for (const text of context.desired.keys()) {
    const draft = drafts.get(text);
    if (draft === undefined || !isDeclared(draft)) continue;
    const { action, address } = draft.change;
    const known = action === 'create' ? undefined : context.record(address);
    const isUpToDate = action === 'none' && !isOfPendingParent(context, all, address);
    records.set(text, new LazyRecord(draft, known, isUpToDate, make));
  }
  return records;
}

/** Whether the resource is a child of a declared one that is not ours yet, or about which nothing is planned because of a problem. */
function isOfPendingParent(
  context: PlanContext,
  all: ReadonlyMap<AddressText, Draft>,
  address: Address,
): boolean {
  const { ownership } = context.kind(address.kind);
  if (ownership.by !== 'child') return false;
  const text = formatAddress(ownership.of(address));
  const parent = all.get(text);
  return parent === undefined ? context.desired.has(text) : takesOver(context, parent.change);
}

/** Whether a change makes an existing resource ours. A change of the flags in our own ownership tag does not. */
function takesOver({ plainTag }: PlanContext, { action, fields }: Change): boolean {
  if (action === 'adopt' || action === 'create') return action === 'adopt';
  return fields.some(({ path: [name], before, after }) => {
    if (name !== 'claim' || after === undefined) return false;
    const { stack, id } = parseOwnershipTag(typeof before === 'string' ? before : '');
    return stack !== plainTag.stack || id !== plainTag.id;
  });
}

class LazyRecord implements RecordDraft {
  readonly draft: DeclaredDraft;
  readonly known: LedgerRecord | undefined;
  readonly isUpToDate: boolean;
  readonly #make: (draft: DeclaredDraft) => LedgerRecord;
  #record: LedgerRecord | undefined;

  constructor(
    draft: DeclaredDraft,
    known: LedgerRecord | undefined,
    isUpToDate: boolean,
    make: (draft: DeclaredDraft) => LedgerRecord,
  ) {
    this.draft = draft;
    this.known = known;
    this.isUpToDate = isUpToDate;
    this.#make = make;
  }

  get record(): LedgerRecord {
    this.#record ??= this.#make(this.draft);
    return this.#record;
  }
}

/** What the responses to the writes of a change of the plan prove. */
export function responseCheck(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): (
  change: Change,
  answers: ReadonlyMap<CallId, Answer>,
  created?: RecheckMoment['created'],
) => ResponseCheck {
  return (change, answers, created = new Map()) => {
    const draft = drafts.get(formatAddress(change.address));
    return checkResponses({
      kind: context.kind(change.address.kind),
      change,
      answers,
      planned: draft?.desired ?? {},
      created,
      record: context.record(change.address),
      drafted: draft && isDeclared(draft) ? recordAfter(context, draft) : undefined,
    });
  };
}

/** The record once the change is carried out, without the ids and marks that come from its calls. */
function recordAfter(context: PlanContext, draft: DeclaredDraft): LedgerRecord {
  const { desired, live, recording } = draft;
  const { resource, origin, inherited, fields: changes, isSent } = recording;
  const kind = context.kind(resource.address.kind);
  const { fields, ownership } = kind;
  const { onRemove, protect } = resource.metadata;
  const managed = Object.entries(desired).filter(([name]) => fields[name]?.local !== true);
  const known = live && context.record(resource.address);
  return {
    ...(live?.id === undefined ? {} : { id: live.id }),
    origin,
    ...(known?.formerOwners === undefined ? {} : { formerOwners: known.formerOwners }),
    ...(onRemove === undefined ? {} : { onRemove }),
    ...(protect === undefined ? {} : { protect }),
    fields: Object.fromEntries(managed),
    ...recordedNames(resource),
    ...(Object.keys(inherited).length === 0 ? {} : { inherited }),
    ...(ownership.by === 'ledger' ? { content: contentAfter(fields, live?.spec, changes) } : {}),
    ...(ownership.by === 'claim' && live !== undefined
      ? { seen: seenValues(kind, live, { declared: desired, changes }) }
      : {}),
    ...(live !== undefined && !isSent && context.isLedgerOwned(live.address)
      ? { content: context.record(live.address)?.content ?? writtenContent(kind, live) }
      : {}),
  };
}

/** The names for the record, without the addresses of the resources that they refer to. */
function recordedNames({ names = {} }: DesiredResource): Pick<LedgerRecord, 'names'> {
  const entries = Object.entries(names);
  if (entries.length === 0) return {};
  return entries.every(([, { declaredAs }]) => declaredAs === undefined)
    ? { names }
    : { names: Object.fromEntries(entries.map(([key, { name, id }]) => [key, { name, id }])) };
}
