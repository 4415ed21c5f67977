/**
 * Decides whether this stack may write a declared resource: the decision tables of rules 21 and 24. Nothing is taken over
 * silently: a resource that is not provably ours is a problem whose fix says which line adopts it.
 */
import { type Address, formatAddress } from '../model/address.ts';
import {
  type DesiredResource,
  formatOwnershipTag,
  type LiveResource,
  type OwnershipTag,
  shownOwnershipTag,
} from '../model/resource.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { FieldChange } from '../model/field.ts';
import type { Origin } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { missingReference, type PlanContext } from './plan-context.ts';
import { isTakenOver } from './take-over-stack.ts';
import { creatorSuffix } from './other-creator.ts';

/** The claim before and after; each absent where there is none. */
export interface OwnershipTagChange {
  readonly before?: string;
  readonly after?: string;
}

export interface Ours {
  readonly is: 'ours';
  readonly action: 'create' | 'update' | 'adopt';
  readonly reason: string;
  readonly origin: Origin;
  /** the claim that the resource, or the whole that it is a part of, will have */
  readonly claim?: OwnershipTag;
  /** present when the claim has to be written */
  readonly claimChange?: OwnershipTagChange;
}

interface Refused {
  readonly is: 'problem';
  readonly problem: Diagnostic;
}

type Verdict =
  | Ours
  /** live, not in the ledger: an adoption, which must be acknowledged if it changes anything */
  | { readonly is: 'unrecorded' }
  | Refused
  /** a part of a whole that has a problem, which is reported there, or that could not be read */
  | { readonly is: 'blocked' };

export function ownershipOfDeclared(context: PlanContext, resource: DesiredResource): Verdict {
  const { ownership } = context.kind(resource.address.kind);
  const live = context.live.get(formatAddress(resource.address));
  if (ownership.by === 'part') return judgePart(context, resource, ownership.of(resource.address));
  if (live === undefined) return ownershipOfMissing(context, resource, ownership.by === 'claim');
  if (ownership.by === 'ledger') return ownershipByRecord(context, resource);
  const verdict = ownershipByTag(context, resource, live);
  return context.isLedgerOwned(resource.address) ? ownershipWithoutTag(context, resource, verdict) : verdict;
}

/**
 * The verdict in a target that keeps no claims: none is written, and none says that the resource is nobody else's (rule 48). A claim
 * of ours that the service shows all the same is kept true to the manifest.
 */
function ownershipWithoutTag(context: PlanContext, resource: DesiredResource, verdict: Verdict): Verdict {
  const witness = context.live.get(formatAddress(resource.address))?.witness ?? {};
  if (verdict.is === 'problem' && verdict.problem.code === 'exists-unclaimed')
    return refuse(resource, unrecorded(context, resource));
  if (verdict.is !== 'ours' || shownOwnershipTag(witness) !== undefined) return verdict;
  const { claim: _, claimChange: __, ...own } = verdict;
  if (witness.claim !== undefined) return own;
  if (own.action !== 'adopt')
    return { ...own, reason: 'ours by its birth mark: an apply that did not end was creating it' };
  const why = resource.metadata.adopt
    ? 'and the manifest adopts it'
    : 'and its birth mark alone does not say whose it is now';
  return { ...own, reason: `exists, this ledger does not know it, ${why}` };
}

function ownershipOfMissing(context: PlanContext, resource: DesiredResource, claims: boolean): Verdict {
  const known = context.record(resource.address) !== undefined;
  const gone =
    context.blindSpot(resource.address) === undefined ? 'gone from the service' : 'not to be seen now';
  const reason = known ? `declared and applied before, but ${gone}` : 'declared, not live';
  const claim = desiredOwnershipTag(context, resource);
  const isClaimed = claims && !context.isLedgerOwned(resource.address);
  return {
    is: 'ours',
    action: 'create',
    reason,
    origin: 'created',
    ...(isClaimed ? { claim, claimChange: { after: formatOwnershipTag(claim) } } : {}),
  };
}

function desiredOwnershipTag(context: PlanContext, { metadata }: DesiredResource): OwnershipTag {
  return {
    stack: context.stack.name,
    protect: metadata.protect ?? false,
    release: metadata.onRemove === 'release',
    inherited: false,
  };
}

/** Rule 21. */
function ownershipByTag(context: PlanContext, resource: DesiredResource, live: LiveResource): Verdict {
  const { claim, bornOf } = live.witness;
  const refused = refusedOwnershipTag(context, resource, claim);
  if (refused !== undefined) return refused;
  const record = context.record(resource.address);
  const wanted = desiredOwnershipTag(context, resource);
  const isBornHere = context.isOurs(bornOf);
  const isMadeHere = isBornHere && provesByMark(context, resource, claim);
  const origin: Origin = record?.origin ?? (isMadeHere ? 'created' : 'adopted');
  const own = { is: 'ours', origin, claim: wanted } as const;
  const [before, after] = [claim && formatOwnershipTag(claim), formatOwnershipTag(wanted)];
  if (claim?.stack !== context.stack.name && isTakenOver(context, resource.address, live))
    return {
      ...own,
      ...takenOver(context),
      claimChange: { ...(before === undefined ? {} : { before }), after },
    };
  if (before !== undefined) {
    const claimChange = before === after ? {} : { claimChange: { before, after } };
    return { ...own, action: 'update', reason: liveDiffers, ...claimChange };
  }
  // A record is about the resource with its id; without an id it proves nothing about this one.
  if (isMadeHere || record?.id !== undefined) {
    const reason = 'ours, but its claim was removed: the claim is restored';
    return { ...own, action: 'update', reason, claimChange: { after } };
  }
  return ownershipOfUnowned(context, resource, { ...own, claimChange: { after } });
}

function ownershipOfUnowned(
  context: PlanContext,
  resource: DesiredResource,
  own: Omit<Ours, 'action' | 'reason'>,
): Verdict {
  const isBornHere = context.isOurs(context.live.get(formatAddress(resource.address))?.witness.bornOf);
  return resource.metadata.adopt || isBornHere
    ? { ...own, action: 'adopt', reason: 'exists without a claim, and the manifest adopts it' }
    : refuse(resource, unownedProblem(context, resource));
}

/**
 * Whether our birth mark says that it is ours. Where no claim is kept another stack may have adopted it since, unless an apply of
 * this stack that never ended was creating it (rule 48).
 */
function provesByMark(
  context: PlanContext,
  { address }: DesiredResource,
  claim: OwnershipTag | undefined,
): boolean {
  return claim !== undefined || !context.isLedgerOwned(address) || context.hasBegunToCreate(address);
}

function takenOver({ former }: PlanContext): Pick<Ours, 'action' | 'reason'> {
  return {
    action: 'adopt',
    reason: `belongs to stack ${quoted(former?.name ?? '')}, for which this one goes on`,
  };
}

const liveDiffers = 'declared, and live differs';

/** A claim that forbids writing: another stack's, or one that is inherited from a project. */
function refusedOwnershipTag(
  context: PlanContext,
  resource: DesiredResource,
  claim: OwnershipTag | undefined,
): Refused | undefined {
  if (claim?.inherited) return refuse(resource, inheritedTagProblem(resource, claim));
  if (claim === undefined || context.isOurClaim(claim)) return undefined;
  return refuse(
    resource,
    context.isOurs(claim.stack) ? foreignId(resource, claim) : ownedByAnotherProblem(resource, claim),
  );
}

/** Rule 24, for resources without claims: the ledger is the witness. */
function ownershipByRecord(context: PlanContext, resource: DesiredResource): Verdict {
  const record = context.record(resource.address);
  if (record === undefined) return { is: 'unrecorded' };
  if (isTakenOver(context, resource.address, undefined))
    return { is: 'ours', ...takenOver(context), origin: record.origin };
  return { is: 'ours', action: 'update', reason: liveDiffers, origin: record.origin };
}

/**
 * The verdict about a live resource without a record, once its differences are known (rule 24). It is adopted, and shown, even
 * if it is as declared, because that does not prove who created it. Only a resource that an interrupted apply of ours had
 * begun to create is ours as created, if no readable field differs; fields with unknown values are written again.
 */
export function ownershipOfUnrecorded(
  context: PlanContext,
  { address, metadata }: DesiredResource,
  fields: readonly FieldChange[],
): Ours {
  if (context.hasBegunToCreate(address) && fields.every(({ unknown }) => unknown !== undefined))
    return { is: 'ours', action: 'update', reason: liveDiffers, origin: 'created' };
  const own = { is: 'ours', action: 'adopt', origin: 'adopted' } as const;
  if (fields.length === 0) {
    const reason = 'exists as declared, and was never written by this stack: nothing is sent, it is recorded';
    return { ...own, reason };
  }
  const adoption = metadata.adopt ? ', and the manifest adopts it' : '';
  return { ...own, reason: `exists, differs, and was never written by this stack${adoption}` };
}

/** A part belongs to the owner of its whole. */
function judgePart(context: PlanContext, resource: DesiredResource, whole: Address): Verdict {
  const declared = context.desired.get(formatAddress(whole));
  if (context.unseen(whole) !== undefined) return { is: 'blocked' };
  return declared === undefined
    ? ownershipOfUndeclaredChild(context, resource, whole)
    : ownershipOfDeclaredChild(context, resource, ownershipOfDeclared(context, declared));
}

function partUpdate(context: PlanContext, { address }: DesiredResource): Ours {
  const origin = context.record(address)?.origin ?? 'adopted';
  return { is: 'ours', action: 'update', reason: liveDiffers, origin };
}

function ownershipOfDeclaredChild(context: PlanContext, resource: DesiredResource, whole: Verdict): Verdict {
  if (whole.is === 'problem' || whole.is === 'blocked') return { is: 'blocked' };
  const update = partUpdate(context, resource);
  if (whole.is === 'unrecorded') return update;
  // Parts of a whole that we created are ours, even if a crash prevented their records.
  const origin = context.record(resource.address)?.origin ?? whole.origin;
  const own = { ...update, origin, ...(whole.claim === undefined ? {} : { claim: whole.claim }) };
  if (whole.action !== 'create') return own;
  return {
    ...own,
    action: 'create',
    reason: 'declared for a resource that this plan creates',
    origin: 'created',
  };
}

function ownershipOfUndeclaredChild(
  context: PlanContext,
  resource: DesiredResource,
  whole: Address,
): Verdict {
  const live = context.live.get(formatAddress(whole));
  if (live === undefined) return refuse(resource, missingParentProblem(context, resource, whole));
  const { claim } = live.witness;
  const refused = refusedOwnershipTag(context, resource, claim);
  if (refused !== undefined) return refused;
  const update = partUpdate(context, resource);
  if (claim !== undefined || context.record(resource.address) !== undefined) return update;
  if (resource.metadata.adopt) {
    const reason = `${quoted(formatAddress(whole))} bears no claim, and the manifest adopts this part of it`;
    return { ...update, action: 'adopt', reason };
  }
  return refuse(resource, unownedParentProblem(context, resource, whole));
}

type ProblemText = Pick<Diagnostic, 'code' | 'class' | 'message' | 'fix'>;

function refuse(resource: DesiredResource, text: ProblemText): Refused {
  return { is: 'problem', problem: { severity: 'error', place: resource.place, ...text } };
}

function unownedProblem(context: PlanContext, { address }: DesiredResource): ProblemText {
  return {
    code: 'exists-unclaimed',
    class: 'conflict',
    message: `${quoted(formatAddress(address))} exists and bears no claim of any stack${creatorSuffix(context, address)}`,
    fix: 'add "adopt: true" to its metadata to take it over; the next plan then shows every difference',
  };
}

function unrecorded(context: PlanContext, { address }: DesiredResource): ProblemText {
  return {
    code: 'exists-unclaimed',
    class: 'conflict',
    message: `${quoted(formatAddress(address))} exists, and this stack's ledger does not know it${creatorSuffix(context, address)}`,
    fix: 'make sure that no other stack has it, and add "adopt: true" to its metadata; the next plan then shows every difference',
  };
}

function unownedParentProblem(
  context: PlanContext,
  { address }: DesiredResource,
  whole: Address,
): ProblemText {
  return {
    code: 'exists-unclaimed',
    class: 'conflict',
    message: `${quoted(formatAddress(whole))}, which ${quoted(formatAddress(address))} is a part of, bears no claim of any stack${creatorSuffix(context, address)}`,
    fix: 'declare it in this stack, or add "adopt: true" to the metadata here to take over this part alone',
  };
}

function ownedByAnotherProblem({ address }: DesiredResource, claim: OwnershipTag): ProblemText {
  return {
    code: 'claimed-by-another-stack',
    class: 'conflict',
    message: `${quoted(formatAddress(address))} is claimed by stack ${quoted(claim.stack)}`,
    fix: 'remove its manifest here, or release it there (metadata.onRemove: release) and adopt it here',
  };
}

/** Another stack of the same name: of another repository, or of this one before its ledger was lost. */
function foreignId({ address }: DesiredResource, { stack, id = '' }: OwnershipTag): ProblemText {
  return {
    code: 'claimed-by-another-id',
    class: 'conflict',
    message: `${quoted(formatAddress(address))} belongs to another stack that is called ${quoted(stack)}, too: its ownership tag has the id ${quoted(id)}, which is not that of this stack's ledger`,
    fix: 'rename one of the two stacks. If it is this stack, and its ledger was lost, rebuild that with "trueup recover"; to take over what the other one has, use "trueup recover --adopt-repository"',
  };
}

function inheritedTagProblem({ address }: DesiredResource, claim: OwnershipTag): ProblemText {
  return {
    code: 'claim-inherited',
    class: 'conflict',
    message: `${quoted(formatAddress(address))} inherits the claim of stack ${quoted(claim.stack)} from its project, which would claim every workspace in it`,
    fix: 'remove that tag binding from the project',
  };
}

function missingParentProblem(
  context: PlanContext,
  { address }: DesiredResource,
  whole: Address,
): ProblemText {
  return {
    code: 'unknown-reference',
    ...missingReference(
      context,
      whole,
      `${quoted(formatAddress(address))} is a part of ${quoted(formatAddress(whole))}`,
    ),
  };
}
