/**
 * Rebuilds the records of a lost ledger (rule 25): the current manifests are taken as the last applied ones, but only for
 * resources that are live and provably ours. A claim proves that; for kinds without claims, only being exactly as declared
 * does. Claim and birth mark together prove a creation. Pure.
 */
import { type LiveResource, type Metadata, ownOwnershipTag } from '../model/resource.ts';
import { type AddressText, formatAddress } from '../model/address.ts';
import type { Notice } from '../model/change.ts';
import type { Ledger, LedgerRecord } from '../model/ledger.ts';
import { buildPlan, type PlanInput, type PlanResult } from './build-plan.ts';
import { canonicalSpec } from '../compare/comparisons.ts';
import type { Draft } from './draft-declared.ts';
import { type PlanContext, makePlanContext } from './plan-context.ts';

export interface Recovered {
  /** holds the drafts of the records of declared resources */
  readonly planning: PlanResult;
  /** declared, live and ours: recorded as `planning` drafts them */
  readonly declared: readonly AddressText[];
  /** no longer declared, but with our claim and our birth mark */
  readonly created: ReadonlyMap<AddressText, LedgerRecord>;
  /** declared but not recorded, each with the reason */
  readonly unproven: readonly Notice[];
}

/** @param input its ledger is ignored */
export function recoverRecords(input: PlanInput): Recovered {
  const context = makePlanContext({ ...input, ledger: emptyLedger(new Map()) });
  const planning = buildPlan({ ...input, ledger: emptyLedger(asApplied(context)) });
  const declared: AddressText[] = [];
  const unproven: Notice[] = [];
  for (const [text, { draft }] of planning.records) {
    const message = whyUnverified(context, planning, draft);
    if (message === undefined) declared.push(text);
    else unproven.push({ address: draft.change.address, message });
  }
  return { planning, declared, created: createdByUs(context), unproven };
}

function emptyLedger(records: Ledger['records']): Ledger {
  return { known: false, serial: 0, records };
}

/**
 * Records of resources without claims as if their manifests had been applied; used only to compare. So a field that the
 * service never answers, such as a secret, is no difference.
 */
function asApplied(context: PlanContext): ReadonlyMap<AddressText, LedgerRecord> {
  const records = new Map<AddressText, LedgerRecord>();
  for (const [text, { address, spec, metadata }] of context.desired) {
    const { ownership, fields } = context.kind(address.kind);
    if (ownership.by === 'ledger' && context.live.has(text))
      records.set(text, { origin: 'adopted', ...flags(metadata), fields: canonicalSpec(fields, spec) });
  }
  return records;
}

function flags({ protect, onRemove }: Metadata): Pick<LedgerRecord, 'protect' | 'onRemove'> {
  return { ...(protect === undefined ? {} : { protect }), ...(onRemove === undefined ? {} : { onRemove }) };
}

function whyUnverified(
  context: PlanContext,
  planning: Pick<PlanResult, 'records'>,
  draft: Draft,
): string | undefined {
  const { live, change } = draft;
  const { ownership } = context.kind(change.address.kind);
  if (live === undefined) return 'declared, but not live: it was never applied, or somebody removed it';
  if (change.action === 'adopt')
    return "nothing proves that it is this stack's: it will be adopted as if for the first time";
  if (ownership.by === 'ledger' && change.action !== 'none') return differs(change.fields);
  if (ownership.by !== 'part') return undefined;
  const whole = planning.records.get(formatAddress(ownership.of(change.address)));
  return whole === undefined ? undefined : whyUnverified(context, planning, whole.draft);
}

function differs(fields: Draft['change']['fields']): string {
  const names = [...new Set(fields.map(({ path }) => path.join('.')))].join(', ');
  return `live differs from its manifest (${names}), so nothing proves that this stack wrote it: "adopt: true" takes it over`;
}

function createdByUs(context: PlanContext): ReadonlyMap<AddressText, LedgerRecord> {
  const created = new Map<AddressText, LedgerRecord>();
  for (const [text, live] of context.live) {
    if (context.desired.has(text) || !isCreatedByUs(context, live)) continue;
    created.set(text, { ...(live.id === undefined ? {} : { id: live.id }), origin: 'created', fields: {} });
  }
  return created;
}

function isCreatedByUs(context: PlanContext, { address, witness }: LiveResource): boolean {
  if (context.kind(address.kind).ownership.by !== 'claim') return false;
  // A resource with the former name of the stack is taken over only by an apply, which a person sees (rules 44).
  const isClaimed = context.bearsOurClaim(witness) && ownOwnershipTag(witness)?.stack === context.stack.name;
  return isClaimed && context.isOurs(witness.bornOf);
}
