/** The records of declared resources once the plan is carried out. Only apply needs them, so each is made when it is first asked for. */
import { contentAfter } from '../compare/comparisons.ts';
import type { AddressText } from '../model/address.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import { seenValues, writtenContent } from './compare-resource.ts';
import type { Draft } from './draft-declared.ts';
import { withoutStaleContent } from './last-written.ts';
import type { PlanContext } from './plan-context.ts';

type DeclaredDraft = Draft & Required<Pick<Draft, 'recording'>>;

export function isDeclared(draft: Draft): draft is DeclaredDraft {
  return draft.recording !== undefined;
}

export interface RecordDraft {
  readonly draft: Draft;
  readonly record: LedgerRecord;
  /** the current record of this resource; undefined for one that is to be created, even if one had its name before */
  readonly known: LedgerRecord | undefined;
  /** it is already as declared: nothing has to be done */
  readonly isUpToDate: boolean;
}

export function recordsOf(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): ReadonlyMap<AddressText, RecordDraft> {
  const make = (draft: DeclaredDraft) =>
    withoutStaleContent(context, drafts, recordAfter(context, draft), draft.change.address);
  const records = new Map<AddressText, RecordDraft>();
  for (const text of context.desired.keys()) {
    const draft = drafts.get(text);
    if (draft === undefined || !isDeclared(draft)) continue;
    const { action, address } = draft.change;
    const known = action === 'create' ? undefined : context.record(address);
    records.set(text, new LazyRecord(draft, known, make));
  }
  return records;
}

class LazyRecord implements RecordDraft {
  readonly draft: DeclaredDraft;
  readonly known: LedgerRecord | undefined;
  readonly #make: (draft: DeclaredDraft) => LedgerRecord;
  #record: LedgerRecord | undefined;

  constructor(
    draft: DeclaredDraft,
    known: LedgerRecord | undefined,
    make: (draft: DeclaredDraft) => LedgerRecord,
  ) {
    this.draft = draft;
    this.known = known;
    this.#make = make;
  }

  get isUpToDate(): boolean {
    return this.draft.change.action === 'none';
  }

  get record(): LedgerRecord {
    this.#record ??= this.#make(this.draft);
    return this.#record;
  }
}

/** Without ids and marks of its calls. */
export function recordAfter(context: PlanContext, draft: DeclaredDraft): LedgerRecord {
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
    ...(resource.names === undefined || Object.keys(resource.names).length === 0
      ? {}
      : { names: resource.names }),
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
