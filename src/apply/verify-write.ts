/**
 * Verifies writes by reading: whether a target keeps ownership tags and children that no response has shown, and whether a
 * refused write was carried out nevertheless. Also checks doubtful outcomes with the plan that is made after the apply.
 */
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { Call } from '../model/call.ts';
import type { Change, Outcome } from '../model/change.ts';
import { messageOf } from '../model/error-message.ts';
import { untilAborted } from '../model/http.ts';
import type { Kind, Registry, Session } from '../model/kind.ts';
import type { LiveResource, Spec } from '../model/resource.ts';
import type { BegunResource } from '../model/field.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import { writtenBy } from './ledger-records.ts';
import { type CallEnd, createsResource } from './attempt-call.ts';
import { type Failed, isRefusal, isThisCreate, isUnexpected } from './send-call.ts';

/**
 * Lets unverified writes pass: the first one has to prove that the service keeps what it writes, while the others wait. If that call
 * is refused, which proves nothing, the next one has to prove it. One for each target and kind.
 */
class WriteCheck {
  #known: 'kept' | 'dropped' | undefined;
  #running: Promise<void> | undefined;
  #leave: () => void = () => {};

  /** @returns `prove`: the caller has to prove it, and to call `end` */
  async enter(): Promise<'prove' | 'kept' | 'dropped'> {
    while (this.#running !== undefined) await this.#running;
    if (this.#known !== undefined) return this.#known;
    this.#running = new Promise((resolve) => {
      this.#leave = resolve;
    });
    return 'prove';
  }

  /** @param known absent when nothing was proved */
  end(known?: 'kept' | 'dropped'): void {
    this.#known = known;
    this.#running = undefined;
    this.#leave();
  }
}

/** The write checks of one target, by kind. */
export class WriteVerifier {
  readonly #checks = new Map<string, WriteCheck>();

  /** Enters the checks in a fixed order, to avoid deadlocks. @returns the kinds to prove, or one whose writes are dropped */
  async enter(kinds: readonly string[]): Promise<readonly string[] | { readonly dropped: string }> {
    const toProve: string[] = [];
    for (const kind of kinds) {
      const found = await this.#of(kind).enter();
      if (found === 'prove') toProve.push(kind);
      if (found !== 'dropped') continue;
      this.end(toProve);
      return { dropped: kind };
    }
    return toProve;
  }

  /** @param known absent when nothing was proved */
  end(kinds: readonly string[], known?: 'kept' | 'dropped'): void {
    for (const kind of kinds) this.#of(kind).end(known);
  }

  #of(kind: string): WriteCheck {
    const check = this.#checks.get(kind) ?? new WriteCheck();
    this.#checks.set(kind, check);
    return check;
  }
}

type ReadBackResult =
  | { readonly is: 'kept' }
  /** `lost`: the write was not found; `unread`: it could not be read back */
  | { readonly is: 'lost' | 'unread'; readonly why: string };

interface VerifyContext {
  readonly kind: Kind;
  readonly session: Session;
  readonly planning: PlanResult;
  readonly kinds: Registry;
  /** ids of resources that this apply created */
  readonly ids: ReadonlyMap<AddressText, string>;
  readonly stop?: AbortSignal;
}

/** Reads back what a call has written. @returns the first thing that was not found, and whether it is the ownership tag or a child */
export async function verifyWrite(
  context: VerifyContext,
  change: Change,
  { kinds, id }: { readonly kinds: readonly string[]; readonly id: string | undefined },
): Promise<ReadBackResult & { readonly of?: 'tag' | 'child' }> {
  for (const name of kinds) {
    const isOwnershipTag = name === context.kind.name;
    const found = await (isOwnershipTag
      ? verifyOwnershipTag(context, change.address, id)
      : readChildBack(context, change, { name, id }));
    if (found.is !== 'kept') return { ...found, of: isOwnershipTag ? 'tag' : 'child' };
  }
  return { is: 'kept' };
}

async function verifyOwnershipTag(
  { kind, session, stop }: VerifyContext,
  address: Address,
  id: string | undefined,
): Promise<ReadBackResult> {
  const fix = 'set "ownership: ledger" for the target, remove declared tags of that target, and apply again';
  try {
    const live = await untilAborted(kind.readOne(session, address, id), stop);
    if (live === undefined) return { is: 'unread', why: 'it was not found when it was read back' };
    if (live.evidence.ownershipTag !== undefined) return { is: 'kept' };
    return { is: 'lost', why: `the service did not keep its ownership tag: ${fix}` };
  } catch (error) {
    return { is: 'unread', why: `its ownership tag cannot be read back (${messageOf(error)}): ${fix}` };
  }
}

/** A child that the same call wrote must be as sent; for a child that is not written yet, a successful read is enough. */
async function readChildBack(
  { kinds, session, planning, ids, stop }: VerifyContext,
  { address, calls }: Change,
  { name, id }: { readonly name: string; readonly id: string | undefined },
): Promise<ReadBackResult> {
  const child = { ...address, kind: name };
  const fix = `remove every ${name} of this target from the manifests, short forms included, and apply again`;
  const written = planning.plan.changes.find(
    (change) =>
      formatAddress(change.address) === formatAddress(child) &&
      calls.some(({ id }) => id === change.sharedCall),
  );
  try {
    const live = await untilAborted(
      kinds.get(name)?.readOne(session, child, id) ?? Promise.resolve(undefined),
      stop,
    );
    const fields = new Set(written?.fields.map(({ path: [field = ''] }) => field));
    if (written === undefined || planning.isCarriedOut(written, { written: fields, created: ids }, live))
      return { is: 'kept' };
    return { is: 'lost', why: `the service did not keep its ${name}: ${fix}` };
  } catch (error) {
    return { is: 'unread', why: `its ${name} cannot be read back (${messageOf(error)}): ${fix}` };
  }
}

// Verifies a refused write by reading the resource: a proxy may answer with a refusal although the service carried out the request.
// An unexpected status, such as 202 or 302, is verified in the same way. After a number of reads that found nothing, none is sent.

/** The maximum number of confirmed refusals of a target, after which refusals are no longer verified. */
const maxConfirmedRefusals = 10;

/** The remaining number of verifications for one target; shared by all of its changes. */
export class ReadBudget {
  #left = maxConfirmedRefusals;

  /** Whether one more read is allowed; if so, it is counted. */
  take(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }

  /** Takes back the count of a read that showed that the refusal was wrong. */
  giveBack(): void {
    this.#left += 1;
  }
}

interface ReadContext {
  readonly planning: PlanResult;
  readonly kind: Kind;
  readonly session: Session;
  readonly readBudget: ReadBudget;
  /** ids of resources that this apply created */
  readonly ids: ReadonlyMap<AddressText, string>;
  /** the resource's id, once it has one */
  readonly id?: string | undefined;
  readonly declaredMark: Spec;
  readonly sent: Failed;
}

/** Whether a refused call was carried out. */
type VerifiedState =
  | { readonly is: 'carried-out'; readonly live?: LiveResource }
  /** the create made the resource, but it is not as desired */
  | { readonly is: 'differs' }
  | { readonly is: 'not-carried-out' }
  /** the resource could not be read, or other calls of the change write the same fields */
  | { readonly is: 'unknown' };

/** How a call ended that was refused or got an unexpected status. Never rejects. @returns also the id of a created resource */
export async function endOfRefused(
  call: Call,
  change: Change,
  context: ReadContext,
): Promise<CallEnd & { readonly id?: string | undefined }> {
  const { sent, kind } = context;
  const end = { kind: 'failed', detail: sent.why } as const;
  const isOdd = isUnexpected(sent);
  if (!isRefusal(sent) && !isOdd) return { ...end, refused: true };
  const verified = await readAfterRefusal(call, change, context);
  switch (verified.is) {
    case 'carried-out':
      return { ...end, foundTrue: true, id: verified.live?.id };
    case 'differs': {
      const detail = `${sent.why}; the resource exists and is ours, but differs from the request`;
      return { ...end, detail, isThere: true, ...(isOdd && { inDoubt: true }) };
    }
    case 'unknown': {
      if (isAccepted(sent)) return maybeLater(sent);
      if (isOdd) return { ...end, inDoubt: true };
      // Without a record it would not count as ours later. A child belongs to the owner of its parent.
      const isCreation = createsResource(call, change) && kind.ownership.by !== 'child';
      return { ...end, refused: true, ...(isCreation && { inDoubt: true }) };
    }
    case 'not-carried-out':
      return isAccepted(sent) ? maybeLater(sent) : end;
  }
}

/** The service may carry out an accepted request later, but not one that it redirected. */
function maybeLater({ why }: Failed): CallEnd {
  return { kind: 'unknown', detail: `${why}; the service may still carry it out` };
}

function isAccepted({ refusal }: Failed): boolean {
  return refusal !== undefined && refusal < 300;
}

/** Reads the resource of a refused call. Never rejects. */
async function readAfterRefusal(call: Call, change: Change, context: ReadContext): Promise<VerifiedState> {
  const { kind, session, readBudget, id } = context;
  if (!readBudget.take()) return { is: 'unknown' };
  try {
    const live = await kind.readOne(session, change.address, id);
    const verified = verify(call, change, { context, live });
    if (verified.is === 'carried-out') readBudget.giveBack();
    return verified;
  } catch {
    return { is: 'unknown' };
  }
}

/** A resource counts as created by a refused call only if it has our creator mark and our ownership tag; after a 202, by the mark alone. */
function verify(
  call: Call,
  change: Change,
  { context, live }: { readonly context: ReadContext; readonly live: LiveResource | undefined },
): VerifiedState {
  const isCreate = call.createsId !== undefined;
  if (isCreate && (live === undefined || !isThisCreate(live, context, isUnexpected(context.sent))))
    return { is: 'not-carried-out' };
  const written = new Set([...writtenBy({ change, calls: new Set([call.id]) }), ...(call.takesFrom ?? [])]);
  if (context.planning.isCarriedOut(change, { written, created: context.ids }, live))
    return { is: 'carried-out', ...(live && { live }) };
  if (isCreate) return { is: 'differs' };
  return { is: writesAlone(call, change) ? 'not-carried-out' : 'unknown' };
}

/** Whether no other call of the change writes the same fields, so that their values show whether this call was carried out. */
function writesAlone(call: Call, { calls }: Change): boolean {
  const namesOf = ({ writes, takesFrom }: Call) =>
    writes === undefined && takesFrom === undefined ? [''] : [...(writes ?? []), ...(takesFrom ?? [])];
  const own = new Set(namesOf(call));
  return calls.every((other) => other === call || !namesOf(other).some((name) => own.has(name)));
}

// Uses the plan that is made after an apply to check changes whose response was lost or was a failure: such a response may be
// wrong. The outcome stays the same, but is marked as found true, or a refused creation is no longer in doubt.

/** The same outcomes as the new plan shows them. @param changes of the plan that was applied */
export function verifiedByPlan(
  outcomes: readonly Outcome[],
  changes: readonly Change[],
  again: PlanResult,
): readonly Outcome[] {
  const applied = new Map(again.asOfNow(changes).map((change) => [formatAddress(change.address), change]));
  const stillPlanned = new Map(
    again.plan.changes.map(({ address, action }) => [formatAddress(address), action]),
  );
  return outcomes.map((outcome) => {
    const text = formatAddress(outcome.address);
    const { foundTrue, ...others } = outcome;
    // A change that was found true before, but is planned again, is not done.
    if (stillPlanned.get(text) === 'create' && again.plan.coverage.complete) return withoutDoubt(others);
    if (stillPlanned.has(text)) return others;
    const change = isInQuestion(outcome) ? applied.get(text) : undefined;
    return change !== undefined && isFoundTrue(change, outcome, again)
      ? { ...outcome, foundTrue: true }
      : outcome;
  });
}

/** A refused creation of something that does not exist was not carried out. */
function withoutDoubt({ inDoubt, ...outcome }: Outcome): Outcome {
  return inDoubt === undefined || outcome.refused ? outcome : { ...outcome, inDoubt };
}

/** Creations of an apply that may have been carried out without a known result. */
export function creationsInDoubt(outcomes: readonly Outcome[]): AddressText[] {
  return outcomes
    .filter((outcome) => outcome.action === 'create' && mayHaveHappened(outcome))
    .map(({ address }) => formatAddress(address));
}

/**
 * Returns what stays without a record after these outcomes: the fields that the plan found open, and those of changes that may have been
 * carried out. Resources that are as desired now are left out.
 * @param later what a later plan found open, if there is one
 */
export function leftOpen(
  outcomes: readonly Outcome[],
  { plan, openFields, live }: Pick<PlanResult, 'plan' | 'openFields' | 'live'>,
  later = openFields,
): readonly BegunResource[] {
  const addressesOf = (is: (outcome: Outcome) => boolean) =>
    new Set(outcomes.filter(is).map(({ address }) => formatAddress(address)));
  const [inDoubt, asDesired] = [addressesOf(mayHaveHappened), addressesOf(isAsDesired)];
  const own = plan.changes.flatMap(({ address, fields }): BegunResource[] => {
    const id = live(address)?.id;
    const text = formatAddress(address);
    return inDoubt.has(text) ? [{ address: text, ...(id === undefined ? {} : { id }), fields }] : [];
  });
  return [
    ...later.filter(({ address }) => !inDoubt.has(address) && !asDesired.has(address)),
    ...openFields.filter(({ address }) => inDoubt.has(address) && !asDesired.has(address)),
    ...own.filter(({ address }) => !asDesired.has(address)),
  ];
}

function isAsDesired({ kind, foundTrue }: Outcome): boolean {
  return kind === 'applied' || kind === 'unchanged' || foundTrue === true;
}

function mayHaveHappened({ kind, inDoubt }: Pick<Outcome, 'kind' | 'inDoubt'>): boolean {
  return kind === 'unknown' || inDoubt === true;
}

function isInQuestion(outcome: Outcome): boolean {
  return mayHaveHappened(outcome) || outcome.refused === true;
}

/** A refused creation counts as done only if all evidence proves that the resource is ours. */
function isFoundTrue(change: Change, { refused }: Outcome, { remainingWork }: PlanResult): boolean {
  const { mustAct, fields, isOurs } = remainingWork(change);
  const hasEvidence = isOurs || refused === undefined || change.action !== 'create';
  return !mustAct && fields.length === 0 && hasEvidence;
}
