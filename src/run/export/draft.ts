/**
 * Drafts the manifests of an export, each as short as possible, and checks them before they are written: they are validated,
 * and planned against the same live resources. A resource that cannot be adopted without a change is reported.
 */
import { dialects } from '../../api/dialects.ts';
import { canonicalSpec } from '../../compare/comparisons.ts';
import { resolveSpec, withUniqueNames } from '../../compare/named-references.ts';
import { defaultsUnder, matchedDocument, mergeDefaults } from '../../manifest/stack-defaults.ts';
import { standardInput } from '../../manifest/files/find-stack.ts';
import { readManifests } from '../../manifest/read-manifests.ts';
import { type ManifestDraft, writeManifests } from '../../manifest/yaml/write-manifests.ts';
import { type Address, type AddressText, formatAddress } from '../../model/address.ts';
import type { Change } from '../../model/change.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { sameJson } from '../../model/json.ts';
import type { Kind, LiveSet, Registry, ShortForm } from '../../model/kind.ts';
import type { NameLists } from '../../model/named-reference.ts';
import { quoted } from '../../model/quoted.ts';
import type { DesiredResource, LiveResource, Spec } from '../../model/resource.ts';
import type { Stack } from '../../model/stack.ts';
import { buildPlan, type PlanResult } from '../../plan/build-plan.ts';
import { exportSpec } from '../../plan/export-spec.ts';
import type { KnownSecrets } from '../../redaction/known-secrets.ts';
import type { ExportedTarget } from './read.ts';

export interface DraftedManifest extends ManifestDraft {
  readonly address: Address;
}

interface DraftContext {
  readonly stack: Stack;
  readonly kinds: Registry;
  /** values that no manifest may contain */
  readonly secrets: KnownSecrets;
  readonly live: ReadonlyMap<AddressText, LiveResource>;
  readonly chosen: ReadonlySet<AddressText>;
  readonly names: NameLists;
  /** children that are written as short forms in the manifest of their parent */
  readonly folded: Set<AddressText>;
}

/** One manifest for each chosen resource that is not written as a short form; parents first, in the order of the registry. */
export function draftManifests(
  { sets, chosen, names }: ExportedTarget,
  { stack, kinds, secrets }: Pick<DraftContext, 'stack' | 'kinds' | 'secrets'>,
): DraftedManifest[] {
  const all = [...sets.values()].flatMap(({ resources }) => resources);
  const live = new Map(all.map((resource) => [formatAddress(resource.address), resource] as const));
  const context: DraftContext = { stack, kinds, secrets, live, chosen, names, folded: new Set() };
  return [...kinds.values()].flatMap((kind) =>
    (sets.get(kind.name)?.resources ?? [])
      .filter(({ address }) => chosen.has(formatAddress(address)))
      .filter(({ address }) => !context.folded.has(formatAddress(address)))
      .flatMap((resource) => draft(context, kind, resource) ?? []),
  );
}

function draft(context: DraftContext, kind: Kind, live: LiveResource): DraftedManifest | undefined {
  const { address } = live;
  const defaults = defaultsOf(context, kind, address);
  const { spec, remarks } = kind.toManifest?.(live, defaults) ?? { spec: live.spec, remarks: [] };
  const { references = [] } = kind.named ?? {};
  const exported = exportSpec({ fields: kind.fields, live: spec, defaults });
  const own = withUniqueNames(exported, { references, lists: context.names });
  // With only default values, a child needs no manifest, nor does a resource that always exists.
  const existsAnyway = kind.ownership.by === 'child' || kind.permanent?.(live) !== undefined;
  if (existsAnyway && Object.keys(own).length === 0) return undefined;
  const serving = context.stack.targets.filter(({ service }) => service === kind.service).length;
  return {
    address,
    kind,
    metadata: { name: address.name, ...(serving > 1 ? { target: address.target } : {}), adopt: true },
    ...withoutSecrets(
      { ...own, ...foldChildren(context, kind, address) },
      [...creatorRemarks(context, live), ...(remarks ?? [])],
      context.secrets,
    ),
  };
}

function creatorRemarks(
  { stack: { name, renamedFrom } }: DraftContext,
  { evidence: { creatorStack } }: LiveResource,
) {
  return creatorStack === undefined || creatorStack === name || creatorStack === renamedFrom
    ? []
    : [
        `Stack ${quoted(creatorStack)} created it: make sure that no other stack manages it before you adopt it.`,
      ];
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

/**
 * The stack's defaults for a manifest that has the tags and the project of the live resource, with deprecated names replaced and ids in
 * place of names. If the draft leaves out tags or project, other defaults may apply: then the check of the drafts finds what differs.
 */
function defaultsOf(
  { stack, live, kinds, names: lists }: DraftContext,
  kind: Kind,
  { target, name }: Address,
): Spec {
  const specs = [...kinds.values()].flatMap((one) => {
    const { spec } = live.get(formatAddress({ kind: one.name, target, name })) ?? {};
    return spec === undefined
      ? []
      : withUniqueNames(spec, { references: one.named?.references ?? [], lists });
  });
  const found = matchedDocument({ metadata: { name }, spec: Object.assign({}, ...specs) as Spec }, target);
  const written = defaultsUnder(stack.defaults, kind, found);
  const { references = [] } = kind.named ?? {};
  return resolveSpec(kind.upgrade?.(written) ?? written, { references, lists }).spec;
}

function foldChildren(context: DraftContext, kind: Kind, { target, name }: Address): Spec {
  const values = Object.entries(kind.shortForms ?? {}).flatMap(([field, form]) => {
    const text = formatAddress({ kind: form.kind, target, name });
    const child = context.kinds.get(form.kind);
    const live = context.live.get(text);
    if (child === undefined || live === undefined || !context.chosen.has(text)) return [];
    const value = shortValue(
      { child, form, live },
      defaultsOf(context, child, { kind: child.name, target, name }),
      defaultsOf(context, kind, { kind: kind.name, target, name })[field],
    );
    if (value === 'needs a document') return [];
    context.folded.add(text);
    return value === 'only defaults' ? [] : [[field, value.is] as const];
  });
  return Object.fromEntries(values);
}

interface Foldable {
  readonly child: Kind;
  readonly form: ShortForm;
  readonly live: LiveResource;
}

type ShortValue = { readonly is: Spec[string] } | 'only defaults' | 'needs a document';

/** @param byDefault the short form in the stack's defaults of the parent, which applies even when the manifest has none */
function shortValue(
  { child, form, live }: Foldable,
  ofChild: Spec,
  byDefault: Spec[string] | undefined,
): ShortValue {
  const base = byDefault === undefined ? ofChild : mergeDefaults(ofChild, form.spec(byDefault));
  const { spec: described } = child.toManifest?.(live, base) ?? live;
  const spec = exportSpec({
    fields: child.fields,
    live: described,
    defaults: byDefault === undefined ? {} : base,
  });
  const [[, value] = ['', null], ...more] = Object.entries(spec);
  if (Object.keys(spec).length === 0) return 'only defaults';
  const canonical = (written: Spec) => canonicalSpec(child.fields, written);
  const isExact = more.length === 0 && sameJson(canonical(form.spec(value)), canonical(spec));
  return isExact ? { is: value } : 'needs a document';
}

// Checks manifests before they are written: they are validated, and planned against the same live resources that they were made
// from, as if they had no owner. A resource that cannot be adopted without a change must be reported.

export interface Checked {
  /** the manifests to write */
  readonly manifests: readonly DraftedManifest[];
  /** a sentence for each manifest that is left out because a stack with it could not be planned */
  readonly refused: readonly string[];
  /** a sentence for each manifest that is written although its adoption would change something */
  readonly differing: readonly string[];
}

interface CheckInput {
  readonly stack: Stack;
  /** absolute path of the stack file */
  readonly file: string;
  readonly kinds: Registry;
  readonly targets: readonly ExportedTarget[];
}

export async function checkManifests(
  drafted: readonly DraftedManifest[],
  input: CheckInput,
): Promise<Checked> {
  const { stack, kinds } = input;
  const { text, lines } = writeManifests(drafted, '');
  const read = await readManifests({
    path: input.file,
    cwd: stack.directory,
    replacementText: text,
    kinds,
    dialects,
  });
  const planning = planFor(read.resources, input);
  const refusals = new Map<DraftedManifest, string>();
  const refuse = (manifest: DraftedManifest | undefined, why: string) => {
    if (manifest !== undefined && !refusals.has(manifest))
      refusals.set(manifest, `${formatAddress(manifest.address)}: ${why}`);
  };
  const { plan, records } = planning;
  const problems = [...read.diagnostics, ...plan.problems].filter(({ severity }) => severity === 'error');
  for (const problem of problems) refuse(manifestAt(problem, drafted, lines), problem.message);
  const byAddress = new Map(drafted.map((manifest) => [formatAddress(manifest.address), manifest]));
  for (const { address } of read.resources) {
    const name = formatAddress(address);
    if (records.has(name)) continue;
    const why = problems.find(({ message }) => message.includes(quoted(name)))?.message;
    const parent = formatAddress(parentOf(address, kinds));
    refuse(byAddress.get(name) ?? byAddress.get(parent), why ?? 'it cannot be adopted as it is');
  }
  const own = new Set(read.resources.map(({ address }) => formatAddress(address)));
  return {
    manifests: drafted.filter((manifest) => !refusals.has(manifest)),
    refused: [...refusals.values()],
    differing: plan.changes.filter(({ address }) => own.has(formatAddress(address))).flatMap(differences),
  };
}

/** Plans as if no stack owned anything, and this one had never been applied. */
function planFor(desired: readonly DesiredResource[], { stack, kinds, targets }: CheckInput): PlanResult {
  return buildPlan({
    stack,
    kinds,
    desired,
    targets: targets.map(({ connected: { target, dialect }, sets, names }) => ({
      target,
      dialect,
      names,
      sets: withoutOwners(sets),
      requests: 0,
    })),
    ledger: { known: false, serial: 0, records: new Map() },
    manifestsComplete: true,
    files: 1,
    documents: desired.length,
  });
}

function parentOf(address: Address, kinds: Registry): Address {
  const ownership = kinds.get(address.kind)?.ownership;
  return ownership?.by === 'child' ? ownership.of(address) : address;
}

function withoutOwners(sets: ReadonlyMap<string, LiveSet>): ReadonlyMap<string, LiveSet> {
  return new Map(
    [...sets].map(([kind, set]) => [
      kind,
      { ...set, resources: set.resources.map((resource) => ({ ...resource, evidence: {} })) },
    ]),
  );
}

function manifestAt(
  { place, related = [] }: ShownDiagnostic,
  drafted: readonly DraftedManifest[],
  lines: readonly number[],
): DraftedManifest | undefined {
  // A problem that a default of the stack causes is placed in the stack; its related place is in the manifest.
  const here = [place, ...related.map((other) => other.place)].find((at) => at?.file === standardInput);
  return here === undefined ? undefined : drafted[lines.findLastIndex((line) => line <= here.line)];
}

function differences({ address, action, fields }: Change): string[] {
  const changed = fields.filter(({ path }) => path[0] !== 'claim').map(({ path }) => path.join('.'));
  if (changed.length === 0 && action === 'adopt') return [];
  const what = changed.length === 0 ? `${action} it` : `change ${changed.join(', ')}`;
  return [`${formatAddress(address)}: no manifest can express its live values, and a plan would ${what}`];
}
