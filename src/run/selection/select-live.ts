/**
 * Which live resources `--select` chooses, for an export: by address, tag and project. As in a stack, a child is chosen and excluded with
 * its parent, unless a selector names its kind.
 */
import { type Address, formatAddress } from '../../model/address.ts';
import { isJsonObject, ownMember } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { matchesPattern, patternsOverlap } from '../../model/name-pattern.ts';
import type { LiveResource } from '../../model/resource.ts';
import type { Target } from '../../model/stack.ts';
import { CommandStop } from '../command-stop.ts';
import type { LiveProjects } from './live-projects.ts';
import { nearAddresses } from './near-matches.ts';
import { invalidSelector, matchesNothing, namesOneKind, readSelectors, type Selector } from './selectors.ts';

export interface LiveSelection {
  /** Some selector gives a project. */
  readonly asksForProjects: boolean;
  /** Whether some resource of the target may be chosen, as far as addresses tell. */
  mayBeIn(target: Target): boolean;
  /** Whether some parent of this kind, or a child of it, may be chosen in the target, as far as addresses tell. */
  mayHaveKind(kind: Kind, target: Target): boolean;
  /** Whether the parent of this name, or a child of it, may be chosen, as far as addresses tell. */
  mayHave(parent: Address): boolean;
  /** Notes what the selectors match. @param live a parent, whether it is exported or not */
  note(live: LiveResource): void;
  /** Whether a parent is chosen. */
  has(live: LiveResource): boolean;
  /** Whether a child is chosen. */
  hasChild(child: Address, parent: LiveResource): boolean;
  /** @throws CommandStop with each selector that matched nothing that was noted, or gives a project that is not known */
  refuseUnmatched(): void;
}

/**
 * @param projects those of all targets, each read before the resources in them
 * @throws CommandStop for a selector that says nothing about live resources
 */
export function selectLive(texts: readonly string[], kinds: Registry, projects: LiveProjects): LiveSelection {
  const selectors = readSelectors(texts);
  refuseUnfit(selectors);
  const [including, excluding] = [false, true].map((excludes) =>
    selectors.filter((selector) => selector.excludes === excludes),
  ) as [Selector[], Selector[]];
  const childKinds = [...kinds.values()].filter(({ ownership }) => ownership.by === 'child');
  const childrenOf = (parent: Address) =>
    childKinds
      .map(({ name, ownership }) => ({ address: { ...parent, kind: name }, ownership }))
      .filter(
        ({ address, ownership }) =>
          ownership.by === 'child' && formatAddress(ownership.of(address)) === formatAddress(parent),
      )
      .map(({ address }) => address);
  const isNamed = (child: Address) =>
    including.some((selector) => namesOneKind(selector) && matchesAddress(selector, child));
  const matched = new Set<Selector>();
  const seen: Address[] = [];
  const matches = matcherOf(projects);
  const isIncluded = (live: LiveResource) =>
    including.length === 0 || including.some((selector) => matches(selector, live));
  const isExcluded = (live: LiveResource) => excluding.some((selector) => matches(selector, live));
  return {
    asksForProjects: selectors.some(({ by }) => by === 'project'),
    mayBeIn: (target) =>
      including.length === 0 ||
      including.some((selector) => mayMatchIn(selector, target, [...kinds.values()])),
    mayHaveKind: (kind, target) =>
      including.length === 0 ||
      including.some((selector) => mayMatchIn(selector, target, [kind, ...childKindsOf(kind, kinds)])),
    mayHave: (parent) =>
      including.length === 0 ||
      including.some(
        (selector) =>
          selector.by !== 'address' ||
          [parent, ...childrenOf(parent)].some((address) => matchesAddress(selector, address)),
      ),
    note: (live) => {
      const all = [live.address, ...childrenOf(live.address)];
      seen.push(...all);
      for (const selector of selectors)
        if (matches(selector, live) || all.some((address) => matchesAddress(selector, address)))
          matched.add(selector);
    },
    has: (live) => isIncluded(live) && !isExcluded(live),
    hasChild: (child, parent) => {
      if (excluding.some((selector) => matchesAddress(selector, child))) return false;
      // A tag or a project excludes the parent with all that belongs to it, an address of one kind only that kind.
      const isLeftWhole = excluding.some((selector) => !namesOneKind(selector) && matches(selector, parent));
      if (isNamed(child)) return !isLeftWhole;
      return (
        !isExcluded(parent) &&
        (isIncluded(parent) || including.some((selector) => matchesAddress(selector, child)))
      );
    },
    refuseUnmatched: () => {
      const problems = selectors.flatMap((selector) => {
        const { text, by, value, excludes } = selector;
        const prefix = `${excludes ? '!' : ''}project:`;
        const unclear = by === 'project' ? projects.problemOf(value, { text, prefix }) : [];
        if (unclear.length > 0 || matched.has(selector)) return unclear;
        const near = by === 'address' ? nearAddresses(value, seen) : [];
        return [matchesNothing(text, 'no such resource was found', near)];
      });
      if (problems.length > 0) throw CommandStop.ofProblems(problems);
    },
  };
}

/** An export has no manifests. */
function refuseUnfit(selectors: readonly Selector[]): void {
  const unfit = selectors.filter(({ by }) => by === 'file' || by === 'changed-since');
  if (unfit.length > 0)
    throw CommandStop.ofProblems(
      unfit.map(({ text }) =>
        invalidSelector(
          text,
          'is about manifests, and an export is about what has none',
          'select by address, tag or project',
        ),
      ),
    );
}

function childKindsOf({ name: parent }: Kind, kinds: Registry): Kind[] {
  return [...kinds.values()].filter(
    ({ name, ownership }) =>
      ownership.by === 'child' && ownership.of({ kind: name, target: '', name: '' }).kind === parent,
  );
}

function matchesAddress({ by, value }: Selector, address: Address): boolean {
  return by === 'address' && matchesPattern(formatAddress(address), value);
}

function matcherOf(projects: LiveProjects): (selector: Selector, live: LiveResource) => boolean {
  return (selector, live) => {
    const { by, value } = selector;
    if (by === 'tag') return hasTag(live, value);
    return by === 'project' ? projects.has(live, value) : matchesAddress(selector, live.address);
  };
}

/** @param tag `key=value`, or a key or flat tag alone */
export function hasTag({ spec, facts }: Pick<LiveResource, 'spec' | 'facts'>, tag: string): boolean {
  const direct = isJsonObject(facts['direct']) ? facts['direct'] : {};
  const flat = Array.isArray(spec['tagNames']) ? spec['tagNames'].map(String) : [];
  const [key = '', ...value] = tag.split('=');
  if (value.length === 0 && flat.includes(tag)) return true;
  const found = ownMember(direct, key);
  return value.length === 0 ? found !== undefined : found === value.join('=');
}

/** Tags and projects may be anywhere. */
function mayMatchIn({ by, value }: Selector, { name, service }: Target, kinds: readonly Kind[]): boolean {
  if (by !== 'address') return true;
  return kinds.some((kind) => kind.service === service && patternsOverlap(`${kind.name}/${name}/*`, value));
}
