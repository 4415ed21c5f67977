/**
 * From live resources to manifests, ready to be adopted. Each is as short as possible: fields with default values are left out,
 * and parts are written as short forms in the manifest of their whole where the kind has one.
 */
import { mergeDefaults } from '../../manifest/resolve/merge-defaults.ts';
import type { ManifestDraft } from '../../manifest/yaml/write-manifests.ts';
import { type Address, type AddressText, formatAddress } from '../../model/resource/address.ts';
import { sameJson } from '../../model/json/json.ts';
import type { Kind, Registry, ShortForm } from '../../model/kind/kind.ts';
import type { KnownSecrets } from '../../model/redaction/known-secrets.ts';
import type { LiveResource, Spec } from '../../model/resource/resource.ts';
import type { Stack } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';
import { canonicalSpec } from '../../compare/canonical-spec.ts';
import { exportSpec } from '../../plan/export-spec.ts';
import type { ExportedTarget } from './read.ts';

export interface DraftedManifest extends ManifestDraft {
  readonly address: Address;
}

interface DraftContext {
  readonly stack: Stack;
  readonly kinds: Registry;
  /** what no manifest may hold */
  readonly secrets: KnownSecrets;
  readonly live: ReadonlyMap<AddressText, LiveResource>;
  readonly chosen: ReadonlySet<AddressText>;
  /** parts that are written as short forms in the manifest of their whole */
  readonly folded: Set<AddressText>;
}

/** One manifest for each chosen resource that is not written as a short form; wholes first, in the order of the registry. */
export function draftManifests(
  { sets, chosen }: ExportedTarget,
  { stack, kinds, secrets }: Pick<DraftContext, 'stack' | 'kinds' | 'secrets'>,
): DraftedManifest[] {
  const all = [...sets.values()].flatMap(({ resources }) => resources);
  const live = new Map(all.map((resource) => [formatAddress(resource.address), resource] as const));
  const context: DraftContext = { stack, kinds, secrets, live, chosen, folded: new Set() };
  return [...kinds.values()].flatMap((kind) =>
    (sets.get(kind.name)?.resources ?? [])
      .filter(({ address }) => chosen.has(formatAddress(address)))
      .filter(({ address }) => !context.folded.has(formatAddress(address)))
      .flatMap((resource) => draft(context, kind, resource) ?? []),
  );
}

function draft(context: DraftContext, kind: Kind, live: LiveResource): DraftedManifest | undefined {
  const { address } = live;
  const defaults = defaultsOf(context, kind);
  const { spec, remarks } = kind.toManifest?.(live, defaults) ?? { spec: live.spec, remarks: [] };
  const own = exportSpec({ fields: kind.fields, live: spec, defaults });
  const isPart = kind.ownership.by === 'part';
  // A part with only default values needs no manifest.
  if (isPart && Object.keys(own).length === 0) return undefined;
  const serving = context.stack.targets.filter(({ service }) => service === kind.service).length;
  return {
    address,
    kind,
    metadata: { name: address.name, ...(serving > 1 ? { target: address.target } : {}), adopt: true },
    ...withoutSecrets(
      { ...own, ...foldParts(context, kind, address) },
      [...creatorRemarks(context, live), ...(remarks ?? [])],
      context.secrets,
    ),
  };
}

function creatorRemarks(
  { stack: { name, renamedFrom } }: DraftContext,
  { witness: { bornOf } }: LiveResource,
) {
  return bornOf === undefined || bornOf === name || bornOf === renamedFrom
    ? []
    : [`Stack ${quoted(bornOf)} created it: make sure that no other stack manages it before you adopt it.`];
}

/** Leaves out each field whose value holds a secret, because manifests are committed to git. */
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

/** The stack's defaults, with deprecated names replaced, as when they are merged under a manifest. */
function defaultsOf({ stack }: DraftContext, kind: Kind): Spec {
  const written = stack.defaults[kind.name] ?? {};
  return kind.upgrade?.(written) ?? written;
}

function foldParts(context: DraftContext, kind: Kind, { target, name }: Address): Spec {
  const values = Object.entries(kind.shortForms ?? {}).flatMap(([field, form]) => {
    const text = formatAddress({ kind: form.kind, target, name });
    const part = context.kinds.get(form.kind);
    const live = context.live.get(text);
    if (part === undefined || live === undefined || !context.chosen.has(text)) return [];
    const value = shortValue(
      { part, form, live },
      defaultsOf(context, part),
      defaultsOf(context, kind)[field],
    );
    if (value === 'needs a document') return [];
    context.folded.add(text);
    return value === 'only defaults' ? [] : [[field, value.is] as const];
  });
  return Object.fromEntries(values);
}

interface Foldable {
  readonly part: Kind;
  readonly form: ShortForm;
  readonly live: LiveResource;
}

type ShortValue = { readonly is: Spec[string] } | 'only defaults' | 'needs a document';

/** @param byDefault the short form in the stack's defaults of the whole, which applies even when the manifest has none */
function shortValue(
  { part, form, live }: Foldable,
  ofPart: Spec,
  byDefault: Spec[string] | undefined,
): ShortValue {
  const base = byDefault === undefined ? ofPart : mergeDefaults(ofPart, form.spec(byDefault));
  const { spec: described } = part.toManifest?.(live, base) ?? live;
  const spec = exportSpec({
    fields: part.fields,
    live: described,
    defaults: byDefault === undefined ? {} : base,
  });
  const [[, value] = ['', null], ...more] = Object.entries(spec);
  if (Object.keys(spec).length === 0) return 'only defaults';
  const canonical = (written: Spec) => canonicalSpec(part.fields, written);
  const isExact = more.length === 0 && sameJson(canonical(form.spec(value)), canonical(spec));
  return isExact ? { is: value } : 'needs a document';
}
