/**
 * From live resources to manifests: each as short as it can be said, its parts folded into it where the kind has a short
 * form for them, and ready to be adopted.
 */
import { mergeDefaults } from '../../manifest/resolve/merge-defaults.ts';
import type { ManifestDraft } from '../../manifest/yaml/write-manifests.ts';
import { type Address, type AddressText, formatAddress } from '../../model/resource/address.ts';
import { sameJson } from '../../model/json/json.ts';
import type { Kind, Registry, ShortForm } from '../../model/kind/kind.ts';
import type { KnownSecrets } from '../../model/known-secrets.ts';
import type { LiveResource, Spec } from '../../model/resource/resource.ts';
import type { Stack } from '../../model/stack/target.ts';
import { canonicalSpec } from '../../compare/canonical-spec.ts';
import { exportSpec } from '../../plan/export-spec.ts';
import type { ExportedTarget } from './read.ts';

export interface DraftedManifest extends ManifestDraft {
  readonly address: Address;
}

interface Desk {
  readonly stack: Stack;
  readonly kinds: Registry;
  /** what no manifest may hold */
  readonly secrets: KnownSecrets;
  readonly live: ReadonlyMap<AddressText, LiveResource>;
  readonly chosen: ReadonlySet<AddressText>;
  /** parts that stand in the manifest of their whole */
  readonly folded: Set<AddressText>;
}

/** One for each chosen resource that no other one's short form stands for; wholes first, in the order of the registry. */
export function draftManifests(
  { sets, chosen }: ExportedTarget,
  { stack, kinds, secrets }: Pick<Desk, 'stack' | 'kinds' | 'secrets'>,
): DraftedManifest[] {
  const all = [...sets.values()].flatMap(({ resources }) => resources);
  const live = new Map(all.map((resource) => [formatAddress(resource.address), resource] as const));
  const desk: Desk = { stack, kinds, secrets, live, chosen, folded: new Set() };
  return [...kinds.values()].flatMap((kind) =>
    (sets.get(kind.name)?.resources ?? [])
      .filter(({ address }) => chosen.has(formatAddress(address)))
      .filter(({ address }) => !desk.folded.has(formatAddress(address)))
      .flatMap((resource) => draft(desk, kind, resource) ?? []),
  );
}

function draft(desk: Desk, kind: Kind, live: LiveResource): DraftedManifest | undefined {
  const { address } = live;
  const defaults = defaultsOf(desk, kind);
  const { spec, remarks } = kind.describe?.(live, defaults) ?? { spec: live.spec, remarks: [] };
  const own = exportSpec({ fields: kind.fields, live: spec, defaults });
  const isPart = kind.ownership.by === 'part';
  // A part that is as if nobody had ever asked for anything needs no document.
  if (isPart && Object.keys(own).length === 0) return undefined;
  const serving = desk.stack.targets.filter(({ service }) => service === kind.service).length;
  return {
    address,
    kind,
    metadata: { name: address.name, ...(serving > 1 ? { target: address.target } : {}), adopt: true },
    ...withoutSecrets({ ...own, ...foldParts(desk, kind, address) }, remarks ?? [], desk.secrets),
  };
}

/** A manifest goes to git: what holds a secret is left out whole, for no part of it can be asked for. */
function withoutSecrets(
  spec: Spec,
  remarks: readonly string[],
  secrets: KnownSecrets,
): Pick<DraftedManifest, 'spec' | 'remarks'> {
  const held = Object.keys(spec).filter((name) => secrets.isIn(spec[name] ?? null));
  const why = held.map((name) => `${name} is left out: its value holds a secret that this run knows`);
  return {
    spec: Object.fromEntries(Object.entries(spec).filter(([name]) => !held.includes(name))),
    remarks: [...secrets.redactKept(remarks), ...why],
  };
}

/** Deprecated spellings folded, as they are when the defaults are merged under a manifest. */
function defaultsOf({ stack }: Desk, kind: Kind): Spec {
  const written = stack.defaults[kind.name] ?? {};
  return kind.upgrade?.(written) ?? written;
}

function foldParts(desk: Desk, kind: Kind, { target, name }: Address): Spec {
  const values = Object.entries(kind.shortForms ?? {}).flatMap(([field, form]) => {
    const text = formatAddress({ kind: form.kind, target, name });
    const part = desk.kinds.get(form.kind);
    const live = desk.live.get(text);
    if (part === undefined || live === undefined || !desk.chosen.has(text)) return [];
    const value = shortValue({ part, form, live }, defaultsOf(desk, part), defaultsOf(desk, kind)[field]);
    if (value === 'needs a document') return [];
    desk.folded.add(text);
    return value === 'nothing to say' ? [] : [[field, value.is] as const];
  });
  return Object.fromEntries(values);
}

interface Foldable {
  readonly part: Kind;
  readonly form: ShortForm;
  readonly live: LiveResource;
}

type ShortValue = { readonly is: Spec[string] } | 'nothing to say' | 'needs a document';

/** @param byDefault the short form that the stack puts into every whole; then the part exists whatever is written */
function shortValue(
  { part, form, live }: Foldable,
  ofPart: Spec,
  byDefault: Spec[string] | undefined,
): ShortValue {
  const base = byDefault === undefined ? ofPart : mergeDefaults(ofPart, form.spec(byDefault));
  const { spec: described } = part.describe?.(live, base) ?? live;
  const spec = exportSpec({
    fields: part.fields,
    live: described,
    defaults: byDefault === undefined ? {} : base,
  });
  const [[, value] = ['', null], ...more] = Object.entries(spec);
  if (Object.keys(spec).length === 0) return 'nothing to say';
  const canonical = (said: Spec) => canonicalSpec(part.fields, said);
  const isSaid = more.length === 0 && sameJson(canonical(form.spec(value)), canonical(spec));
  return isSaid ? { is: value } : 'needs a document';
}
