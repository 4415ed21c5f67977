/**
 * Finds creates that are similar to a resource of ours that is no longer declared: most likely its name was changed in the manifest.
 * Resources are compared by the `similarity` texts of their kind, and by all their settings, also with their own names left out.
 */
import { canonicalSpec } from '../compare/comparisons.ts';
import {
  type Address,
  type AddressText,
  formatAddress,
  kindAndTarget,
  parseAddress,
} from '../model/address.ts';
import { canonicalText, type Json } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/resource.ts';
import { isDeletedOrReleased } from './count-guards.ts';
import type { Draft } from './draft-declared.ts';
import type { PlanContext } from './plan-context.ts';
import { type Comparable, pairSimilar, withoutName, wordsOfNames } from './similar-resources.ts';

export interface LikelyRename {
  /** the live resource that is no longer declared */
  readonly gone: LiveResource;
  /** what the plan does with it */
  readonly becomes: 'deleted' | 'released' | 'kept';
  /** the create that is similar to it */
  readonly made: Draft;
}

/** At most one for each create: from the most similar resource that is not closer to another create, or else the most similar of all. */
export function findRenames(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): readonly LikelyRename[] {
  const made = [...drafts.values()].filter(({ change }) => change.action === 'create');
  const creates = Map.groupBy(made, ({ change: { address } }) => kindAndTarget(address));
  const gone = Map.groupBy(
    [...context.live.values()].filter(
      (live) => creates.has(kindAndTarget(live.address)) && isGone(context, live, drafts),
    ),
    ({ address }) => kindAndTarget(address),
  );
  return [...creates].flatMap(([place, some]) =>
    pairUp(context, gone.get(place) ?? [], some).map((pair) => ({
      gone: pair.gone.live,
      becomes: removalOf(drafts, pair.gone.live),
      made: pair.made.draft,
    })),
  );
}

/** Whether the resource is ours and no longer declared; for kinds without ownership tags only if this plan removes it. */
function isGone(context: PlanContext, live: LiveResource, drafts: ReadonlyMap<AddressText, Draft>): boolean {
  const { address, evidence } = live;
  const text = formatAddress(address);
  const draft = drafts.get(text);
  if (draft !== undefined && isDeletedOrReleased(draft)) return true;
  // A resource outside of a selection may still be declared.
  if (
    context.isSelection ||
    context.desired.has(text) ||
    context.movesAway.has(text) ||
    context.kind(address.kind).ownership.by !== 'claim'
  )
    return false;
  return context.record(address) !== undefined || context.hasOurTag(evidence);
}

function removalOf(
  drafts: ReadonlyMap<AddressText, Draft>,
  { address }: LiveResource,
): LikelyRename['becomes'] {
  const action = drafts.get(formatAddress(address))?.change.action;
  return action === 'delete' ? 'deleted' : action === 'release' ? 'released' : 'kept';
}

interface GoneResource extends Comparable {
  readonly live: LiveResource;
}

interface CreatedResource extends Comparable {
  readonly draft: Draft;
}

/** How a create is recognized: by the `similarity` texts of its kind, and by all its declared settings. */
interface CreateSignature {
  readonly draft: Draft;
  readonly traits: readonly string[] | undefined;
  readonly settings: Settings | undefined;
}

function pairUp(
  context: PlanContext,
  gone: readonly LiveResource[],
  drafts: readonly Draft[],
): { readonly gone: GoneResource; readonly made: CreatedResource }[] {
  if (gone.length === 0) return [];
  const created = drafts.map((draft) => signatureOf(context, draft));
  // A live resource without a record is compared by the fields that some create declares.
  const declaredFields = new Map(
    created.flatMap(({ settings }) => {
      const names = settings && Object.keys(settings).toSorted();
      return names === undefined ? [] : [[JSON.stringify(names), names] as const];
    }),
  );
  const words = wordsOfNames([
    ...gone.map(({ address }) => address.name),
    ...drafts.map(({ change }) => change.address.name),
  ]);
  return pairSimilar(
    gone.toSorted(byName).map((live) => ({
      live,
      ...comparableGone(context, live, { declaredFields: [...declaredFields.values()], words }),
    })),
    created
      .toSorted((a, b) => byName(a.draft.change, b.draft.change))
      .map(({ draft, traits, settings }) => {
        const { name } = draft.change.address;
        return {
          draft,
          name,
          levels: levelsOf({ name, words }, traits, settings === undefined ? [] : [settings]),
        };
      }),
  );
}

interface HasAddress {
  readonly address: Address;
}

function byName(one: HasAddress, other: HasAddress): number {
  return one.address.name < other.address.name ? -1 : 1;
}

function signatureOf(context: PlanContext, draft: Draft): CreateSignature {
  const { address } = draft.change;
  const { similarity, fields, ownership } = context.kind(address.kind);
  const traits = similarity?.(canonicalSpec(fields, draft.prepared));
  return {
    draft,
    traits,
    settings: ownership.by === 'claim' ? declaredSettings(context, address) : undefined,
  };
}

function comparableGone(
  context: PlanContext,
  { address, spec }: LiveResource,
  {
    declaredFields,
    words,
  }: { readonly declaredFields: readonly (readonly string[])[]; readonly words: ReadonlySet<string> },
): Comparable {
  const { similarity, fields, ownership } = context.kind(address.kind);
  const traits = similarity?.(canonicalSpec(fields, spec));
  const settings = () => {
    const recorded = recordedSettings(context, address);
    return recorded === undefined ? liveSettings(context, address, declaredFields) : [recorded];
  };
  const { name } = address;
  return { name, levels: levelsOf({ name, words }, traits, ownership.by === 'claim' ? settings() : []) };
}

/**
 * The keys of a resource, the most specific first: all traits, all settings, and all settings without its own name or names of others;
 * then the first trait with fewer and fewer of the other traits.
 * @param words of the names of all resources that are compared
 */
function levelsOf(
  { name, words }: { readonly name: string; readonly words: ReadonlySet<string> },
  traits: readonly string[] | undefined,
  settings: readonly Settings[],
): readonly (readonly string[])[] {
  const views = settings.map((some) =>
    withoutName(some, name, words).map((view) => `settings ${canonicalText(view)}`),
  );
  const [whole = [], ...fewer] = traits === undefined ? [] : traitLevels(traits);
  return [whole, ...[0, 1, 2, 3, 4].map((at) => views.flatMap((keys) => keys[at] ?? [])), ...fewer];
}

/** One key for each choice of traits that contains the first trait. The largest choices come first. */
function traitLevels([first = '', ...others]: readonly string[]): string[][] {
  let choices: (string | null)[][] = [[]];
  for (const other of others)
    choices = choices.flatMap((choice) => [
      [...choice, other],
      [...choice, null],
    ]);
  const size = (choice: readonly unknown[]) => choice.filter((trait) => trait !== null).length;
  return choices
    .toSorted((a, b) => size(b) - size(a))
    .map((choice) => [`traits ${JSON.stringify([first, ...choice])}`]);
}

/** The settings of a resource and its children, canonical, by `Kind.field`. */
type Settings = Readonly<Record<string, Json>>;

/** The settings of a declared resource; undefined when all of them come from the stack's defaults. */
function declaredSettings(context: PlanContext, address: Address): Settings | undefined {
  const declared = withChildren(context, address).flatMap(({ kind, at }) => {
    const resource = context.desired.get(formatAddress(at));
    return resource === undefined ? [] : [{ kind, resource }];
  });
  return declared.some(setsMoreThanDefaults)
    ? mergeSettings(
        declared.map(({ kind, resource }) => ({ kind, spec: canonicalSpec(kind.fields, resource.spec) })),
      )
    : undefined;
}

/** The settings that were last applied, from the ledger; undefined without a record. */
function recordedSettings(context: PlanContext, address: Address): Settings | undefined {
  const known = context.recordedAt(address);
  if (known === undefined || !context.ledger.records.has(known)) return undefined;
  return mergeSettings(
    withChildren(context, parseAddress(known)).flatMap(({ kind, at }) => {
      const record = context.ledger.records.get(formatAddress(at));
      return record === undefined ? [] : [{ kind, spec: record.fields }];
    }),
  );
}

/** For each list of fields, the values of a live resource that has no record. A list with a field that it lacks is left out. */
function liveSettings(
  context: PlanContext,
  address: Address,
  declaredFields: readonly (readonly string[])[],
): Settings[] {
  const found = mergeSettings(
    withChildren(context, address).flatMap(({ kind, at }) => {
      const live = context.live.get(formatAddress(at));
      return live === undefined ? [] : [{ kind, spec: canonicalSpec(kind.fields, live.spec) }];
    }),
  );
  return declaredFields.flatMap((names) => {
    const values = names.map((name) => [name, found[name]] as const);
    const known = values.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
    return known.length === names.length ? [Object.fromEntries(known)] : [];
  });
}

interface DeclaredOfKind {
  readonly kind: Kind;
  readonly resource: DesiredResource;
}

function setsMoreThanDefaults({ kind, resource: { spec, fromDefaults } }: DeclaredOfKind): boolean {
  return Object.keys(spec).some((name) => !fromDefaults.includes(name) && kind.fields[name]?.local !== true);
}

function mergeSettings(all: readonly { readonly kind: Kind; readonly spec: Spec }[]): Settings {
  return Object.fromEntries(
    all.flatMap(({ kind, spec }) =>
      Object.entries(spec)
        .filter(([name]) => kind.fields[name]?.local !== true)
        .map(([name, value]) => [`${kind.name}.${name}`, value] as const),
    ),
  );
}

/** The address itself and the addresses of its possible children, each with its kind. */
function withChildren(
  context: PlanContext,
  address: Address,
): { readonly kind: Kind; readonly at: Address }[] {
  const text = formatAddress(address);
  return context.kinds().flatMap((kind) => {
    const at = { ...address, kind: kind.name };
    const parent = kind.ownership.by === 'child' ? kind.ownership.of(at) : at;
    return formatAddress(parent) === text ? [{ kind, at }] : [];
  });
}
