/**
 * Prevents the deletion of a resource that contains others, such as a project with workspaces, unless the same plan deletes these as
 * well, or moves them elsewhere.
 */
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import { valueAt } from '../model/json.ts';
import type { Content } from '../model/kind.ts';
import { quoteSome } from '../model/quoted.ts';
import type { DesiredResource, LiveResource } from '../model/resource.ts';
import type { PlanContext } from './plan-context.ts';
import type { Removal } from './removal.ts';
import { decidesAbout } from './restrict-to-part.ts';

/** The verdicts, with a notice in place of each deletion of a resource that is not empty. */
export function keepNonEmpty(
  context: PlanContext,
  verdicts: ReadonlyMap<AddressText, Removal>,
): ReadonlyMap<AddressText, Removal> {
  const kept = [...verdicts].flatMap(([text, verdict]) => {
    const live = verdict.is === 'delete' ? context.live.get(text) : undefined;
    const contents = live && context.kind(parseAddress(text).kind).contents?.(live);
    const staying = live && contents ? stayingIn(context, { live, contents, verdicts }) : [];
    return staying.length === 0 ? [] : [[text, keptFor(text, staying)] as const];
  });
  return kept.length === 0 ? verdicts : new Map([...verdicts, ...kept]);
}

function keptFor(text: AddressText, staying: readonly AddressText[]): Removal {
  const message = `to be deleted, but kept: it is not empty: ${quoteSome(staying)}`;
  return { is: 'notice', notice: { address: parseAddress(text), message, isPending: true } };
}

interface ContainerInput {
  readonly live: LiveResource;
  readonly contents: readonly Content[];
  readonly verdicts: ReadonlyMap<AddressText, Removal>;
}

/** What will be in the container: resources that are in it and stay, and resources that are declared to be in it. Sorted. */
function stayingIn(context: PlanContext, { live, contents, verdicts }: ContainerInput): AddressText[] {
  const isOfThisPlan = decidesAbout(context);
  const current = new Map(
    [...context.live].map(([text, { address, id }]) => [`${address.kind}#${id}`, text] as const),
  );
  const left = contents.flatMap(({ address, id }) => {
    // The resource may have another name in the plan.
    const text = current.get(`${address.kind}#${id}`) ?? formatAddress(address);
    const verdict = verdicts.get(text);
    const isDeleted = verdict?.is === 'delete' && isOfThisPlan(text, verdict);
    return isDeleted || isMoved(context, text, live) ? [] : [text];
  });
  const declared = [...context.desired].flatMap(([text, resource]) =>
    containersOf(context, resource, live).includes(live.id ?? '') ? [text] : [],
  );
  return [...new Set([...left, ...declared])].sort();
}

/** Whether the plan moves the resource out of the container `from`. */
function isMoved(context: PlanContext, text: AddressText, from: LiveResource): boolean {
  const { part } = context;
  const resource = context.desired.get(text);
  if (resource === undefined || (part !== undefined && !part.selected.has(text))) return false;
  const containers = containersOf(context, resource, from);
  return containers.length > 0 && !containers.includes(from.id ?? '');
}

/** The ids of the containers that a declared resource names, of the same kind and target as `like`. */
function containersOf(
  context: PlanContext,
  { address, spec }: DesiredResource,
  like: LiveResource,
): string[] {
  if (address.target !== like.address.target) return [];
  const { references = [] } = context.kind(address.kind).named ?? {};
  return references.flatMap(({ id, kind }) => {
    const value = kind === like.address.kind ? valueAt(spec, id) : undefined;
    return typeof value === 'string' ? [value] : [];
  });
}
