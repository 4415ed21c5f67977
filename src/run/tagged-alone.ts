/** Resources of the stack that a plan gives other tags without a change of their own: policies by tags check them as well. Pure. */
import { projectKind } from '../api/workspaces/projects.ts';
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { Change } from '../model/change.ts';
import { canonicalText } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import type { Ledger } from '../model/ledger.ts';
import {
  type DesiredResource,
  isDeclaration,
  type LiveResource,
  ownOwnershipTag,
} from '../model/resource.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import type { CheckedChange } from '../policies/variables.ts';
import { isInProject, projectsOf, rootOf, type Tagged, tagsAround } from './checked-tags.ts';

export interface Declared {
  readonly kinds: Registry;
  readonly desired: readonly DesiredResource[];
  readonly ledger: Pick<Ledger, 'records'>;
}

/** What policies check: a change, or what they check like an update without fields. */
export type CheckedPart = Pick<Change, 'address' | 'action' | 'fields' | 'place' | 'risks'> &
  Pick<CheckedChange, 'getsOtherTags'>;

/**
 * Each resource whose tags change without a change of its own. Those of a workspace are another resource, and policies with tags are
 * about the workspace. Then also what gets other tags through its workspace, or through the project of its workspace.
 */
export function taggedParts(
  planning: PlanResult,
  declared: Declared,
  tagsOf: (address: Address) => Tagged,
): CheckedPart[] {
  const changed = planning.plan.changes.map(({ address }) => address);
  const roots = taggedAlone(changed, declared.kinds).filter((root) => planning.live(root) !== undefined);
  const others = withOtherTags(planning, declared, { known: [...changed, ...roots], tagsOf });
  const update = { action: 'update', fields: [] } as const;
  return [
    ...roots.map((address) => ({ address, ...update })),
    ...others.map((address) => ({ address, ...update, getsOtherTags: true as const })),
  ];
}

/** What has no change of its own, while its tags change. @param changed the addresses of all changes */
export function taggedAlone(changed: readonly Address[], kinds: Registry): Address[] {
  const known = new Set(changed.map(formatAddress));
  return changed.flatMap((address) => {
    const kind = kinds.get(address.kind);
    const root = rootOf(address, kinds);
    const isTagged = kind?.ownership.by === 'child' && Object.hasOwn(kind.fields, 'tags');
    return isTagged && !known.has(formatAddress(root)) ? [root] : [];
  });
}

interface KnownParts {
  /** what is checked anyway */
  readonly known: readonly Address[];
  readonly tagsOf: (address: Address) => Tagged;
}

function withOtherTags(
  planning: PlanResult,
  declared: Declared,
  { known, tagsOf }: KnownParts,
): readonly Address[] {
  const { kinds } = declared;
  const isOfStack = ofStack(planning, declared);
  const members = membersOfChanged(planning, kinds, isOfStack);
  const roots = new Map([...known.map((address) => rootOf(address, kinds)), ...members].map(withText));
  const isMember = new Set(members.map(formatAddress));
  const isChecked = new Set(known.map(formatAddress));
  const moves = (root: Address) => {
    const { before, after } = projectsOf(planning, root);
    return isInProject(kinds.get(root.kind)) && before !== after;
  };
  return [...roots].flatMap(([text, root]) => {
    const { tags, tagsBefore = {}, hasUnknownInherited } = tagsOf(root);
    const mayDiffer = hasUnknownInherited === true && (isMember.has(text) || moves(root));
    if (!mayDiffer && canonicalText(tags) === canonicalText(tagsBefore)) return [];
    return partsAround(planning, root, kinds).flatMap((live) =>
      isOfStack(live) && !isChecked.has(formatAddress(live.address)) ? [live.address] : [],
    );
  });
}

function withText(address: Address): readonly [AddressText, Address] {
  return [formatAddress(address), address];
}

/** Workspaces in projects whose own tags change, as far as anything of them is of the stack. */
function membersOfChanged(
  planning: PlanResult,
  kinds: Registry,
  isOfStack: (live: LiveResource) => boolean,
): Address[] {
  const projects = planning.plan.changes.filter(({ address }) => {
    if (address.kind !== projectKind) return false;
    const { tags, tagsBefore } = tagsAround(planning, address, kinds);
    return canonicalText(tags) !== canonicalText(tagsBefore);
  });
  const inProjects = [...kinds.values()].filter(isInProject);
  return [...Map.groupBy(projects, ({ address: { target } }) => target)].flatMap(([target, some]) => {
    const ids = new Set(some.flatMap(({ address }) => planning.live(address)?.id ?? []));
    const mayBeIn = ({ spec: { projectId = null } }: LiveResource) =>
      // One that does not show its project may be in any.
      projectId === null || ids.has(String(projectId));
    const members = inProjects.flatMap(({ name }) => planning.liveOfKind(name, target).filter(mayBeIn));
    return members.flatMap(({ address }) =>
      partsAround(planning, address, kinds).some(isOfStack) ? [address] : [],
    );
  });
}

/** The resource and its children, as far as they exist. */
function partsAround(planning: PlanResult, root: Address, kinds: Registry): LiveResource[] {
  const text = formatAddress(root);
  return [...kinds.keys()].flatMap((kind) => {
    const address = { ...root, kind };
    return formatAddress(rootOf(address, kinds)) === text ? (planning.live(address) ?? []) : [];
  });
}

/** @returns whether the stack declares the resource, has recorded it, or has marked it as its own */
function ofStack(planning: PlanResult, { desired, ledger }: Declared): (live: LiveResource) => boolean {
  const declared = new Set(desired.filter(isDeclaration).map(({ address }) => formatAddress(address)));
  return (live) => {
    const text = formatAddress(live.address);
    if (declared.has(text) || ledger.records.has(text)) return true;
    return ownOwnershipTag(live.evidence) !== undefined && !planning.isOwnedByAnother(live);
  };
}
