/** Finds names in manifests that refer to other things of the service than when they were applied, because somebody changed them there. */
import type { DriftedName } from '../../model/drift.ts';
import {
  createdThing,
  type NameList,
  type NamedReference,
  nameKey,
  uniqueName,
} from '../../model/named-reference.ts';
import { quoted } from '../../model/quoted.ts';
import { type ChangedId, changedIds, changedMessage } from '../names.ts';
import type { PlanContext } from '../plan-context.ts';
import { isSelectedIn } from './find-pending.ts';

/** @param context of the manifests */
export function findDriftedNames(context: PlanContext): DriftedName[] {
  const isSelected = isSelectedIn(context);
  return changedIds(context)
    .filter(({ resource }) => isSelected(resource))
    .map((changed) => driftedName(context, changed));
}

function driftedName(context: PlanContext, changed: ChangedId): DriftedName {
  const { resource, key, now, before } = changed;
  const { address } = resource;
  const { references = [] } = context.kind(address.kind).named ?? {};
  const reference = references.find(({ id }) => nameKey(id) === key);
  const list = reference && context.target(address.target).names?.get(reference.what);
  const former = before.flatMap((id) => {
    const name = list?.byId.get(id);
    return name === undefined ? [] : [{ id, name }];
  })[0];
  const whereabouts =
    former === undefined
      ? 'was not found: it was deleted, or the token may not read it'
      : `is called ${quoted(former.name)} now`;
  const which = former?.id ?? (before.length === 1 ? before[0] : undefined);
  return {
    ...{ address, field: key, given: now.name, id: now.id, recorded: before },
    message: `${changedMessage(changed)}${which === undefined ? '' : `; ${quoted(which)} ${whereabouts}`}`,
    fix: fixOf(changed, { reference, list, former }),
    place: resource.placeOf(reference?.name ?? key.split('.')),
  };
}

interface Whereabouts {
  readonly reference: NamedReference | undefined;
  readonly list: NameList | undefined;
  /** what had the name, and its name now */
  readonly former: { readonly id: string; readonly name: string } | undefined;
}

function fixOf({ key, now }: ChangedId, { reference, list, former }: Whereabouts): string {
  const what = reference?.what ?? 'object';
  if (createdThing(now.id) !== undefined)
    return `an apply creates ${quoted(now.id)} and refers to it, once the guard "reference-changed" is acknowledged; or write another name, or an id`;
  const follow = `an apply refers to ${quoted(now.id)}, once the guard "reference-changed" is acknowledged`;
  if (former === undefined || reference === undefined)
    return `make sure that ${quoted(now.id)} is the right ${what}, or write another name, or an id; ${follow}`;
  const back = `give the ${what}s their names back in the service`;
  // The document of what the stack itself declares has the name, too.
  if (now.declaredAs !== undefined) return `${back}; ${follow}`;
  const line =
    uniqueName(list, former.id) === undefined
      ? `${key}: ${former.id}`
      : `${nameKey(reference.name)}: ${former.name}`;
  return `${back}, or write ${quoted(line)} to stay with ${quoted(former.id)}; ${follow}`;
}
