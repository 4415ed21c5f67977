/**
 * Which declared resources `--select` chooses: those that some selector matches, without those that an exclusion matches. A child is
 * chosen and excluded with its parent, unless a selector names its kind.
 */
import { relative, resolve } from 'node:path';
import { matchFiles } from '../../manifest/files/match-files.ts';
import { slashes } from '../../manifest/files/find-stack.ts';
import { type Address, type AddressText, formatAddress } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonObject } from '../../model/json.ts';
import { quoteSome } from '../../model/quoted.ts';
import type { Registry } from '../../model/kind.ts';
import { matchesPattern } from '../../model/name-pattern.ts';
import type { ChosenPart } from '../../model/part.ts';
import type { DesiredResource, Spec } from '../../model/resource.ts';
import { CommandStop } from '../command-stop.ts';
import {
  invalidSelector,
  matchesNothing,
  namesOneKind,
  nearAddresses,
  nearTexts,
  type Selector,
} from './selectors.ts';

interface Declared {
  readonly resources: readonly DesiredResource[];
  readonly kinds: Registry;
  /** absolute; what `file:` is relative to */
  readonly directory: string;
  /** absolute; what the places of resources are relative to */
  readonly cwd: string;
  /** for each `changed-since:`, by its value: the resources that differ, and the commit that they were compared with */
  readonly changedSince: ReadonlyMap<string, ChangedResources>;
}

export interface ChangedResources {
  /** the merge base */
  readonly commit: string;
  readonly addresses: ReadonlySet<AddressText>;
}

/** @throws CommandStop with each selector that matches nothing, or if the exclusions leave nothing */
export function selectDeclared(
  selectors: readonly Selector[],
  declared: Declared,
): Pick<ChosenPart, 'selected' | 'excluded'> {
  const entries = entriesOf(declared);
  const matches = selectors.map((selector) => ({
    selector,
    matched: matchedBy(selector, entries, declared),
  }));
  const problems = matches.flatMap(({ selector, matched }) =>
    matched.size > 0 ? [] : [nothingMatched(selector, entries, declared)],
  );
  if (problems.length > 0) throw CommandStop.ofProblems(problems);
  const [excluding, including] = [true, false].map((excludes) =>
    matches.filter(({ selector }) => selector.excludes === excludes),
  );
  const unionOf = (some: typeof matches = []) => new Set(some.flatMap(({ matched }) => [...matched]));
  const [included, leftOut] = [unionOf(including), unionOf(excluding)];
  const named = unionOf(including?.filter(({ selector }) => namesOneKind(selector)));
  // A tag or a project excludes the workspace with its children. An address of one kind excludes only that kind.
  const leftOutWhole = unionOf(excluding?.filter(({ selector }) => !namesOneKind(selector)));
  const isAll = including?.length === 0;
  const excluded = new Set<AddressText>();
  const selected = new Set<AddressText>();
  for (const { text, parent } of entries) {
    const isLeftOutWithParent =
      parent !== undefined && (leftOutWhole.has(parent) || (leftOut.has(parent) && !named.has(text)));
    if (leftOut.has(text) || isLeftOutWithParent) excluded.add(text);
    else if (isAll || included.has(text) || (parent !== undefined && included.has(parent)))
      selected.add(text);
  }
  const unclear = selectors.flatMap((selector) => unclearProjects(selector, entries, selected));
  if (unclear.length > 0) throw CommandStop.ofProblems(unclear);
  if (selected.size > 0) return { selected, excluded };
  const message = `the exclusions ${selectors
    .filter(({ excludes }) => excludes)
    .map(({ text }) => JSON.stringify(text))
    .join(', ')} leave nothing of what is selected`;
  throw CommandStop.ofProblems([
    {
      code: 'selector-matches-nothing',
      severity: 'error',
      class: 'invalid',
      message,
      fix: 'leave one of them out',
    },
  ]);
}

interface Entry {
  readonly address: Address;
  readonly text: AddressText;
  /** the parent, if it is declared */
  readonly parent: AddressText | undefined;
  /** the files of its document, and of its item if a template made it, relative to the stack; none for standard input */
  readonly files: readonly string[];
  /** each tag as `key=value`, and each flat tag; for a parent, those of its children, too */
  readonly tags: ReadonlySet<string>;
  readonly projects: { readonly names: ReadonlySet<string>; readonly ids: ReadonlySet<string> };
}

function entriesOf({ resources, kinds, directory, cwd }: Declared): Entry[] {
  const declared = new Set(resources.map(({ address }) => formatAddress(address)));
  const parentOf = (address: Address) => {
    const ownership = kinds.get(address.kind)?.ownership;
    const parent = ownership?.by === 'child' ? formatAddress(ownership.of(address)) : undefined;
    return parent !== undefined && declared.has(parent) ? parent : undefined;
  };
  const groups = Map.groupBy(resources, ({ address }) => parentOf(address) ?? formatAddress(address));
  const fromStack = (file: string) => slashes(relative(directory, resolve(cwd, file)));
  return resources.map(({ address, place }) => {
    const text = formatAddress(address);
    const specs = (groups.get(text) ?? []).map(({ spec }) => spec);
    return {
      address,
      text,
      parent: parentOf(address),
      files: [place, place.list].flatMap((at) =>
        at === undefined || at.file === '-' ? [] : fromStack(at.file),
      ),
      tags: new Set(specs.flatMap(tagsIn)),
      projects: projectsIn(specs),
    };
  });
}

/** Tags that a manifest declares, as `key=value`; flat ones alone. */
function tagsIn({ tags, tagNames }: Spec): string[] {
  const pairs = isJsonObject(tags) ? Object.entries(tags) : [];
  const flat = Array.isArray(tagNames) ? tagNames.map(String) : [];
  return [...pairs.map(([key, value]) => `${key}=${value === null ? '' : String(value)}`), ...flat];
}

/** Projects, as manifests name them. */
function projectsIn(specs: readonly Spec[]): Entry['projects'] {
  const textsAt = (field: string) =>
    new Set(specs.map((spec) => spec[field]).filter((value) => typeof value === 'string'));
  return { names: textsAt('project'), ids: textsAt('projectId') };
}

/** Problems if the part may still contain an excluded project: manifests do not show whether a name and an id mean the same project. */
function unclearProjects(
  { text, by, value, excludes }: Selector,
  entries: readonly Entry[],
  selected: ReadonlySet<AddressText>,
): Diagnostic[] {
  if (by !== 'project' || !excludes) return [];
  const [isName, isId] = [
    entries.some(({ projects }) => projects.names.has(value)),
    entries.some(({ projects }) => projects.ids.has(value)),
  ];
  const roots = new Set(
    entries.flatMap((entry) => (selected.has(entry.text) ? [entry.parent ?? entry.text] : [])),
  );
  const others = entries.filter(
    ({ text: root, projects: { names, ids } }) =>
      roots.has(root) && ((isName && ids.size > 0) || (isId && names.size > 0)),
  );
  if (others.length === 0) return [];
  const [form, other] = isName ? ['name', 'id'] : ['id', 'name'];
  return [
    invalidSelector(
      text,
      `excludes a project by its ${form}, and ${quoteSome(others.map((one) => one.text))} ${others.length === 1 ? 'gives its' : 'give their'} project by its ${other}`,
      'give the project in the same way in all manifests, or exclude these resources by their addresses',
    ),
  ];
}

function matchedBy(selector: Selector, entries: readonly Entry[], declared: Declared): Set<AddressText> {
  const isMatch = matcherOf(selector, declared);
  return new Set(entries.filter(isMatch).map(({ text }) => text));
}

function matcherOf(
  { by, value }: Selector,
  { directory, changedSince }: Declared,
): (entry: Entry) => boolean {
  switch (by) {
    case 'address':
      return ({ text }) => matchesPattern(text, value);
    case 'tag':
      return ({ tags }) =>
        tags.has(value) || (!value.includes('=') && [...tags].some((tag) => tag.startsWith(`${value}=`)));
    case 'project':
      return ({ projects: { names, ids } }) => names.has(value) || ids.has(value);
    case 'file': {
      const { isFile } = matchFiles([value], directory);
      return ({ files }) => files.some(isFile);
    }
    case 'changed-since': {
      const { addresses = new Set() } = changedSince.get(value) ?? {};
      return ({ text }) => addresses.has(text);
    }
  }
}

function nothingMatched(
  { text, by, value }: Selector,
  entries: readonly Entry[],
  { changedSince }: Declared,
): Diagnostic {
  switch (by) {
    case 'address':
      return matchesNothing(
        text,
        'the stack declares no resource with such an address',
        nearAddresses(
          value,
          value.includes('/') ? addressesOf(entries) : addressesOf(entries.filter(isRoot)),
        ),
      );
    case 'tag':
      return matchesNothing(
        text,
        'no manifest of the stack has this tag',
        nearTexts(
          value,
          entries.flatMap(({ tags }) => [...tags]),
        ).map((tag) => `tag:${tag}`),
      );
    case 'project':
      return matchesNothing(
        text,
        'no manifest of the stack has this project',
        nearTexts(
          value,
          entries.flatMap(({ projects: { names, ids } }) => [...names, ...ids]),
        ).map((name) => `project:${name}`),
      );
    case 'file':
      return matchesNothing(
        text,
        'no resource is declared in such a file; paths are relative to the stack file',
        nearTexts(
          value,
          entries.flatMap(({ files }) => files),
        ).map((file) => `file:${file}`),
      );
    case 'changed-since': {
      const commit = changedSince.get(value)?.commit.slice(0, 12) ?? '';
      return matchesNothing(text, `every declared resource is as in commit ${commit}, the merge base`, []);
    }
  }
}

function addressesOf(entries: readonly Entry[]): Address[] {
  return entries.map(({ address }) => address);
}

function isRoot({ parent }: Entry): boolean {
  return parent === undefined;
}

/** The names of all targets that a plan of the part may need: also those of what selected resources refer to. */
export function targetsOf(
  selected: ReadonlySet<AddressText>,
  { resources, kinds }: Pick<Declared, 'resources' | 'kinds'>,
): ReadonlySet<string> {
  const byAddress = new Map(resources.map((resource) => [formatAddress(resource.address), resource]));
  const reached = new Set(selected);
  for (const text of reached) {
    const resource = byAddress.get(text);
    const kind = resource && kinds.get(resource.address.kind);
    if (resource === undefined || kind === undefined) continue;
    const parents = kind.ownership.by === 'child' ? [kind.ownership.of(resource.address)] : [];
    const named = (kind.references?.(resource) ?? []).map(({ to }) => to);
    for (const to of [...parents, ...named]) reached.add(formatAddress(to));
  }
  return new Set([...reached].map((text) => text.split('/', 2)[1] ?? ''));
}
