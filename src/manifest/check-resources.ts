/**
 * Checks valid manifests against each other: no resource is declared twice, references and names are right, and the rules of
 * each kind hold. All checks work without a service.
 */
import { type AddressText, formatAddress } from '../model/address.ts';
import type { Diagnostic, Place } from '../model/diagnostic.ts';
import { isJsonObject } from '../model/json.ts';
import type { CheckContext, Kind, Registry, ResourceProblem } from '../model/kind.ts';
import { ownsName } from '../model/name-pattern.ts';
import { orList, quoted } from '../model/quoted.ts';
import type { DesiredResource } from '../model/resource.ts';
import type { Dialect, Stack, Target } from '../model/stack.ts';
import { checkSources } from './check-secret-sources.ts';
import { namesWithIds } from './stack-defaults.ts';
import { fromDefaultsNote, maskedPlace, quotedMasked } from './problem.ts';
import type { Entry } from './resolve-resources.ts';
import { leadsToSecret } from './yaml/secret-fields.ts';

interface ResourcesContext {
  readonly kinds: Registry;
  readonly dialects: ReadonlyMap<string, Dialect>;
  /** names of the fields that hold, or lead to, a secret */
  readonly secrets: ReadonlySet<string>;
  /** absent when it is invalid */
  readonly stack?: Stack | undefined;
  /** milliseconds since 1970 */
  readonly now?: number;
}

/** @param entries of all manifests; only those with a resource are checked */
export function checkResources(entries: readonly Entry[], context: ResourcesContext): Diagnostic[] {
  const { kinds, secrets, stack } = context;
  const declared = new Map<AddressText, DesiredResource>();
  const renamed = new Map<AddressText, DesiredResource>();
  for (const { resource, shortForm } of entries) {
    if (resource === undefined) continue;
    const { address, metadata } = resource;
    // A resource that moves to another stack may be referred to like any other resource of that stack.
    if (metadata.movedTo !== undefined) continue;
    declared.set(formatAddress(address), resource);
    // Children are renamed with their parent, so a problem of its former name is reported only for the parent.
    if (metadata.renamedFrom !== undefined && shortForm === undefined)
      renamed.set(
        formatAddress({ ...address, name: foldName(kinds, address.kind, metadata.renamedFrom) }),
        resource,
      );
  }
  const keyOf = (address: DesiredResource['address']) =>
    formatAddress({ ...address, name: foldName(kinds, address.kind, address.name) });
  const each = entries.flatMap(({ resource, target, declaration }) => {
    const kind = kinds.get(resource?.address.kind ?? '');
    if (resource === undefined || kind === undefined) return [];
    const moves = stack === undefined ? [] : checkMove(declaration, stack);
    if (resource.metadata.movedTo !== undefined) return moves;
    const others: CheckContext = {
      target,
      dialect: dialectOf(target, context),
      ...(context.now === undefined ? {} : { now: context.now }),
      declared: (address) => declared.get(keyOf(address)),
    };
    return [
      ...[
        ...(kind.check?.(resource, others) ?? []),
        ...namesWithIds(kind, resource.spec),
        ...(stack === undefined || mayNameAnySource(declaration, stack)
          ? []
          : checkSources(kind, resource, stack)),
      ].map((finding) => diagnoseFinding(finding, resource, { declaration, secrets })),
      ...moves,
      ...checkOwns(kind, resource, target),
      ...checkRename(resource, declared, renamed),
      ...(kind.references?.(resource) ?? []).flatMap(({ to, path }) =>
        checkReference(() => resource.placeOf(path), declared.get(keyOf(to)), renamed.get(keyOf(to))),
      ),
    ];
  });
  return [...each, ...checkRenamedTwice(entries, kinds)];
}

/** Whether a document needs no check of its sources: the stack sets no limits, and the document was not made by a template. */
function mayNameAnySource({ document }: Entry['declaration'], { secrets }: Stack): boolean {
  return secrets === undefined && document.made === undefined;
}

function diagnoseFinding(
  finding: ResourceProblem,
  resource: DesiredResource,
  { declaration, secrets }: { declaration: Entry['declaration']; secrets: ReadonlySet<string> },
): Diagnostic {
  const { path, side, message, related, ...rest } = finding;
  const placed = (at: ResourceProblem['path'], end?: ResourceProblem['side']): Place => {
    const place = at.length === 0 ? resource.place : resource.placeOf(at, end);
    return leadsToSecret(at, secrets) ? maskedPlace(place, 'value') : place;
  };
  const isFromDefaults = path[0] !== undefined && resource.fromDefaults.includes(path[0]);
  const second = [
    ...(related === undefined ? [] : [{ message: related.message, place: placed(related.path) }]),
    ...(isFromDefaults ? [relatedManifest(declaration)] : []),
  ];
  return {
    ...rest,
    class: 'invalid',
    message: isFromDefaults ? `${message}${fromDefaultsNote}` : message,
    place: placed(path, side),
    ...(second.length === 0 ? {} : { related: second }),
  };
}

/** Points at the manifest, not at the place of the resource: a short form from the defaults is in the stack file. */
function relatedManifest({ where }: Entry['declaration']): { message: string; place: Place } {
  return { message: 'applies to this manifest', place: where.place(['metadata', 'name']) };
}

/** The target must own the name of a role. */
function checkOwns(kind: Kind, resource: DesiredResource, target: Target): Diagnostic[] {
  const { address } = resource;
  const { ownership, names } = kind;
  const { name, owns = [] } = target;
  if (ownership.by !== 'ledger' || !ownership.limitedByOwns || ownsName(target, address.name, names))
    return [];
  return [
    {
      code: 'outside-owns',
      severity: 'error',
      class: 'invalid',
      message: `target ${quoted(name)} does not own the name ${quoted(address.name)}`,
      place: resource.place,
      allowed: owns.length === 0 ? 'none' : orList(owns.map(quotedMasked)),
      fix: 'rename it, or add a pattern to "owns" of the target',
    },
  ];
}

/** A resource must move between two different stacks, and only a ledger in a file has a folder. */
function checkMove({ value, where }: Entry['declaration'], stack: Stack): Diagnostic[] {
  const metadata = isJsonObject(value['metadata']) ? value['metadata'] : {};
  const wrong = { severity: 'error', class: 'invalid', code: 'contradiction' } as const;
  return ['movedFrom', 'movedTo'].flatMap((name): Diagnostic[] => {
    const move = metadata[name];
    if (!isJsonObject(move)) return [];
    if (move['stack'] === stack.name)
      return [
        {
          ...wrong,
          message: `${quoted(`metadata.${name}`)} names this stack itself`,
          place: where.place(['metadata', name, 'stack']),
          fix: `name the other stack, or remove ${quoted(name)}`,
        },
      ];
    if (move['folder'] === undefined || (stack.ledger?.in ?? 'local') === 'local') return [];
    return [
      {
        ...wrong,
        message: '"metadata.movedFrom.folder" has no effect: this stack keeps its ledger in no folder',
        place: where.place(['metadata', name, 'folder'], 'key'),
        fix: 'remove "folder": the ledger of the other stack is expected where this one is',
      },
    ];
  });
}

function checkRename(
  resource: DesiredResource,
  declared: ReadonlyMap<AddressText, DesiredResource>,
  renamed: ReadonlyMap<AddressText, DesiredResource>,
): Diagnostic[] {
  const { address, metadata } = resource;
  const successor = renamed.get(formatAddress(address));
  if (
    successor === undefined ||
    metadata.remove !== undefined ||
    !declared.has(formatAddress(successor.address))
  )
    return [];
  const isOwnName = successor.address.name === address.name;
  if (!isOwnName && metadata.renamedFrom !== undefined) return [namesInUse(resource, successor)];
  return [
    {
      code: 'renamed-and-declared',
      severity: 'error',
      class: 'invalid',
      message: isOwnName
        ? `"metadata.renamedFrom" of ${quoted(address.name)} is its own name`
        : `${address.kind} ${quoted(address.name)} is declared, and ${quoted(successor.address.name)} is to be renamed from it`,
      place: resource.place,
      fix: isOwnName ? 'remove "renamedFrom"' : 'remove the old document, or "renamedFrom" of the new one',
      ...(isOwnName ? {} : { related: [{ message: 'renamed here', place: successor.place }] }),
    },
  ];
}

/** A swap, a cycle or a chain of names: in any order of the requests, the service refuses a name that is still in use. */
function namesInUse({ address, metadata, place }: DesiredResource, successor: DesiredResource): Diagnostic {
  const other = successor.address.name;
  return {
    code: 'renamed-and-declared',
    severity: 'error',
    class: 'invalid',
    message: `${quoted(other)} is to be renamed from ${quoted(address.name)}, and ${quoted(address.name)} from ${quoted(metadata.renamedFrom ?? '')}: one apply cannot give a name that is still in use`,
    place,
    fix: `rename in two applies, over a third name: declare ${quoted(address.name)} under a name that nothing has, with ${quoted(`renamedFrom: ${address.name}`)}, and apply; then rename it to its final name`,
    related: [{ message: 'renamed here', place: successor.place }],
  };
}

/** Only one resource can be renamed from a former name: the plan would ignore the second. */
function checkRenamedTwice(entries: readonly Entry[], kinds: Registry): Diagnostic[] {
  const first = new Map<AddressText, Entry>();
  return entries.flatMap((entry) => {
    const { resource, shortForm } = entry;
    const { renamedFrom } = resource?.metadata ?? {};
    if (resource === undefined || renamedFrom === undefined || shortForm !== undefined) return [];
    const { address } = resource;
    const former = formatAddress({ ...address, name: foldName(kinds, address.kind, renamedFrom) });
    const earlier = first.get(former);
    if (earlier === undefined) first.set(former, entry);
    // A resource that is declared twice is reported as a duplicate.
    if (earlier === undefined || earlier.address.name === address.name) return [];
    return [renamedTwice(earlier, entry, renamedFrom)];
  });
}

function renamedTwice(first: Entry, again: Entry, former: string): Diagnostic {
  const { kind, target, name } = again.address;
  const placeOf = ({ declaration }: Entry) => declaration.where.place(['metadata', 'renamedFrom']);
  return {
    code: 'renamed-twice',
    severity: 'error',
    class: 'invalid',
    message: `${quoted(first.address.name)} and ${quoted(name)} are both to be renamed from ${kind} ${quoted(former)} of target ${quoted(target)}`,
    place: placeOf(again),
    fix: 'keep "renamedFrom" in one of them',
    related: [{ message: 'the other one', place: placeOf(first) }],
  };
}

function checkReference(
  place: () => Place,
  to: DesiredResource | undefined,
  successor: DesiredResource | undefined,
): Diagnostic[] {
  const invalid = { severity: 'error', class: 'invalid' } as const;
  if (to?.metadata.remove !== undefined)
    return [
      {
        ...invalid,
        place: place(),
        code: 'reference-to-removed',
        message: `this refers to ${to.address.kind} ${quoted(to.address.name)}, which is to be removed`,
        fix: 'remove the reference, or keep what it refers to',
        related: [{ message: 'removed here', place: to.place }],
      },
    ];
  if (to !== undefined || successor === undefined) return [];
  return [
    {
      ...invalid,
      place: place(),
      code: 'reference-to-renamed',
      message: `this refers to a ${successor.address.kind} by the name that it had before`,
      fix: `write ${quoted(successor.address.name)}`,
      related: [{ message: 'renamed here', place: successor.place }],
    },
  ];
}

/** @throws when the dialect is unknown: a bug, because reading the stack refuses such a target */
function dialectOf({ service, dialect }: Target, { dialects }: ResourcesContext): Dialect {
  const found = dialects.get(`${service}/${dialect}`);
  if (found === undefined) throw new Error(`no dialect ${dialect} for ${service}`);
  return found;
}

function foldName(kinds: Registry, kind: string, name: string): string {
  return kinds.get(kind)?.names.fold?.(name) ?? name;
}
