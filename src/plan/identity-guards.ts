/**
 * The guards about the identity of a resource: created again, deleted without a record, taken over. Also has the messages of all guards
 * that are not about the number of resources.
 */
import { type Address, formatAddress } from '../model/address.ts';
import type { RiskGuard } from '../model/guard.ts';
import { quoted } from '../model/quoted.ts';
import type { Draft } from './draft-declared.ts';
import { idUnderName } from './exchanged-names.ts';
import { creatorMessage } from './other-creator.ts';
import type { PlanContext } from './plan-context.ts';
import { sentFields } from './recorded-flags.ts';
import { isTakenOver } from './take-over-stack.ts';
import { movingFrom } from './moved-ownership.ts';

interface IdentityHit {
  readonly id: Extract<UncountedGuard, 'recreate' | 'no-record' | 'adopt' | 'unrecorded' | 'takeover'>;
  readonly messages: readonly string[];
  /** blocks even if the stack allows the guard */
  readonly always?: true;
  /** in place of the message of the guard */
  readonly says?: string;
}

/** The identity guards that one draft trips; for a child only its adoption, if the parent has no visible ownership tag. */
export function identityGuards(context: PlanContext, draft: Draft): readonly IdentityHit[] {
  const { address, action } = draft.change;
  const { ownership } = context.kind(address.kind);
  if (isUnrecorded(context, draft)) {
    const other = replacedResource(context, draft);
    return [{ id: 'unrecorded', messages: other === undefined ? [] : [other] }];
  }
  const replaced = action === 'adopt' ? replacedResource(context, draft) : undefined;
  if (replaced !== undefined)
    return [
      {
        id: 'adopt',
        always: true,
        says: replacedMessage,
        messages: [replaced, ...creatorMessages(draft)],
      },
    ];
  if (ownership.by === 'child')
    return action === 'adopt' && context.isLedgerOwned(ownership.of(address))
      ? [{ id: 'adopt', messages: creatorMessages(draft) }]
      : [];
  const isTakeover = action !== 'create' && isTakenOver(context, address, draft.live);
  const id = ownGuard(context, draft, isTakeover);
  return [
    ...(id === undefined ? [] : [{ id, messages: id === 'adopt' ? creatorMessages(draft) : [] }]),
    ...takeoverHits(context, draft, isTakeover),
  ];
}

/** Taking resources from other stacks, or deleting those that came from them, always blocks: no setting of a stack can allow it. */
function takeoverHits(context: PlanContext, draft: Draft, isTakeover: boolean): IdentityHit[] {
  const { address, action } = draft.change;
  const owner = action === 'delete' ? formerOwner(context, address) : undefined;
  if (owner !== undefined)
    return [{ id: 'takeover', always: true, says: givenBackMessage, messages: [giveBack(context, owner)] }];
  if (!isTakeover) return [];
  const from = movingFrom(context, address, draft.live);
  const messages = [movingMessage(context, draft), takeoverActions[action] ?? ''].filter(
    (message) => message !== '',
  );
  return [{ id: 'takeover', messages, ...(from === undefined ? {} : { always: true }) }];
}

/** The last other stack that the resource came from by a move. */
function formerOwner(context: PlanContext, address: Address): string | undefined {
  const { formerOwners = [] } = context.record(address) ?? {};
  return formerOwners.findLast(({ stack }) => stack !== context.stack.name)?.stack;
}

function giveBack({ stack }: PlanContext, owner: string): string {
  return `it came from stack ${quoted(owner)}; to give it back, declare it here with ${quoted(`movedTo: { stack: ${owner} }`)}, and there with ${quoted(`movedFrom: { stack: ${stack.name} }`)}`;
}

/** Whether the resource has our tag, but no record: the ledger was lost, or another repository has a stack with the same name. */
function isUnrecorded(context: PlanContext, { change: { address, action } }: Draft): boolean {
  const { ownership } = context.kind(address.kind);
  const parent = ownership.by === 'child' ? ownership.of(address) : address;
  const live = context.live.get(formatAddress(parent));
  if (context.kind(parent.kind).ownership.by !== 'claim' || live === undefined) return false;
  if (action !== 'update' && action !== 'release' && !(action === 'create' && parent !== address))
    return false;
  if (context.record(parent) !== undefined || context.record(address) !== undefined) return false;
  if (context.hasBegunToChange(parent) || isTakenOver(context, parent, live)) return false;
  return context.hasOurTag(live.evidence);
}

/** A message if the ledger has another id for this name. The resource may be another team's, and an old "adopt: true" is not about it. */
function replacedResource(context: PlanContext, { change: { address }, live }: Draft): string | undefined {
  const known = idUnderName(context, address);
  if (known === undefined || live?.id === undefined || known === live.id) return undefined;
  return `the ledger has ${quoted(known)} under this name, but the live resource is ${quoted(live.id)}`;
}

function creatorMessages({ change: { createdBy } }: Draft): string[] {
  return createdBy === undefined ? [] : [creatorMessage(createdBy)];
}

function movingMessage(context: PlanContext, { change: { address }, live }: Draft): string {
  const from = movingFrom(context, address, live);
  const ledger = context.moves.ledgers.get(context.recordedAt(address) ?? formatAddress(address));
  if (from === undefined) return '';
  return `moves from stack ${quoted(from)}${ledger === undefined ? '' : ` (${ledger})`}`;
}

const takeoverActions: Readonly<Record<string, string>> = { delete: 'and deleted', release: 'and released' };

function ownGuard(
  context: PlanContext,
  draft: Draft,
  isTakeover: boolean,
): 'recreate' | 'no-record' | 'adopt' | undefined {
  const { address, action, fields } = draft.change;
  switch (action) {
    case 'create':
      return context.record(address) === undefined ? undefined : 'recreate';
    case 'delete':
      return hasEvidence(context, draft) ? undefined : 'no-record';
    case 'adopt': {
      // "adopt: true" in the manifest acknowledges it; an adoption without differences needs no acknowledgement.
      // If ownership tags of other stacks cannot be seen, a person has to check.
      if (context.isLedgerOwned(address)) return isTakeover ? undefined : 'adopt';
      const isAcknowledged = context.desired.get(formatAddress(address))?.metadata.adopt === true;
      return isAcknowledged || isTakeover || sentFields(fields).length === 0 ? undefined : 'adopt';
    }
    default:
      return undefined;
  }
}

/** Whether the ledger, or the last manifest, allows this stack to delete it. */
function hasEvidence(context: PlanContext, { change: { address }, remove }: Draft): boolean {
  const record = context.record(address);
  if (record === undefined) return false;
  const hasTags = context.kind(address.kind).ownership.by !== 'ledger';
  // An adopted resource is deleted only because its target is exclusive, which does not prove ownership.
  return hasTags || remove !== undefined || record.origin === 'created' || record.onRemove === 'delete';
}

// The messages of guards that are not about the number of resources: the end of the sentence `3 Toy in "acme" …`.

export type UncountedGuard =
  | RiskGuard
  | 'recreate'
  | 'rename'
  | 'reference-changed'
  | 'no-record'
  | 'forced-delete'
  | 'adopt'
  | 'unrecorded'
  | 'takeover';

/** For `adopt`, if the ledger has another resource with that name. */
const replacedMessage =
  'would be taken over, although the ledger has another one of that name with another id';

/** For `reference-changed`, if the name of the resource itself now refers to another one. */
export const exchangedMessage =
  'would be applied to another resource than before: names were changed in the service';

/** For `reference-changed`, if a resource is removed under another name than the ledger has for it. */
export const removedElsewhereMessage =
  'would be removed under another name than before: names were changed in the service';

/** For `takeover`, if the resource is deleted. */
const givenBackMessage = 'would be deleted, although this stack took it over from another one';

export const guardMessages: Readonly<Record<UncountedGuard, string>> = {
  recreate: 'would be created again, although this stack applied it before: somebody deleted it',
  rename: 'would be created, while a similar resource is no longer declared: is it a rename?',
  'reference-changed': 'would refer by the same name to something else than before',
  'no-record': 'would be deleted, although the ledger has no record of it',
  'forced-delete': 'would be deleted by force, without the checks of a safe delete',
  adopt: 'would be taken over, although this stack never wrote it',
  unrecorded:
    'would be changed: it has the ownership tag of this stack, but the ledger has no record of it. Does another repository have a stack of this name?',
  takeover: 'would be taken over from another stack, or from the former name of this one',
  wildcard: 'would admit everyone by a wildcard',
  'cleared-audience': 'would accept tokens issued for any audience',
  'unlimited-lifetime': 'would create tokens without a limit on their lifetime',
  'global-sharing': 'would be open to everyone',
  'scheduled-destroy': 'would have its resources destroyed, or destroyed sooner',
  widening: 'would widen access',
  'new-role': 'would be a new way to log in',
};
