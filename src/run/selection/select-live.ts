/**
 * Which live resources `--select` chooses, for an export: by address, tag and project. As in a stack, a child is chosen and excluded with
 * its parent, unless a selector names its kind.
 */
import { type Address, formatAddress } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonObject, ownMember } from '../../model/json.ts';
import type { Kind, Registry, Session } from '../../model/kind.ts';
import { matchesPattern, patternsOverlap } from '../../model/name-pattern.ts';
import type { NameList } from '../../model/named-reference.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import type { LiveResource } from '../../model/resource.ts';
import type { Target } from '../../model/stack.ts';
import { CommandStop } from '../command-stop.ts';
import {
  invalidSelector,
  matchesNothing,
  namesOneKind,
  nearAddresses,
  nearTexts,
  readSelectors,
  type Selector,
} from './selectors.ts';

export interface LiveSelection {
  /** whether a selector names a project */
  readonly asksForProjects: boolean;
  /** Whether a resource of the target may be chosen, as far as addresses show. */
  mayBeIn(target: Target): boolean;
  /** Whether a parent of this kind, or a child of it, may be chosen in the target, as far as addresses show. */
  mayHaveKind(kind: Kind, target: Target): boolean;
  /** Whether the parent of this name, or a child of it, may be chosen, as far as addresses show. */
  mayHave(parent: Address): boolean;
  /** Notes which selectors match. @param live a parent, whether it is exported or not */
  note(live: LiveResource): void;
  /** Whether a parent is chosen. */
  has(live: LiveResource): boolean;
  /** Whether a child is chosen. */
  hasChild(child: Address, parent: LiveResource): boolean;
  /** @throws CommandStop with each selector that matched none of the noted resources, or names an unknown project */
  refuseUnmatched(): void;
}

/**
 * @param projects those of all targets, each read before the resources in them
 * @throws CommandStop for a selector that cannot select live resources
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
      // A tag or a project excludes the parent with its children. An address of one kind excludes only that kind.
      const isLeftOutWhole = excluding.some(
        (selector) => !namesOneKind(selector) && matches(selector, parent),
      );
      if (isNamed(child)) return !isLeftOutWhole;
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

/** Refuses selectors about manifests: an export is for resources without any. */
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

/** Whether a selector may match resources of these kinds in the target. Always true for tags and projects, which may be in any target. */
function mayMatchIn({ by, value }: Selector, { name, service }: Target, kinds: readonly Kind[]): boolean {
  if (by !== 'address') return true;
  return kinds.some((kind) => kind.service === service && patternsOverlap(`${kind.name}/${name}/*`, value));
}

// The projects of the targets of an export, as their services list them: a selector names a project by its name or its id.

const objectType = 'project';

export class LiveProjects {
  /** the lists of projects, by target */
  readonly #lists = new Map<string, NameList>();
  /** ids that resources refer to, also of projects that no list contains */
  readonly #used = new Set<string>();

  /** Reads the list of the target, if resources of this kind are in projects. @throws WireError when the target cannot be reached */
  async read(session: Session, { named }: Kind): Promise<void> {
    if (named?.references.some((reference) => reference.objectType === objectType))
      this.#lists.set(session.target.name, await named.list(session, objectType));
  }

  note({ spec: { projectId } }: LiveResource): void {
    if (typeof projectId === 'string') this.#used.add(projectId);
  }

  /** @param project a name or an id. Names in an incomplete list do not count */
  has({ address, spec: { projectId } }: Pick<LiveResource, 'address' | 'spec'>, project: string): boolean {
    if (typeof projectId !== 'string') return false;
    return projectId === project || this.#idsOf(project, address.target).includes(projectId);
  }

  /** Why a selection by this project may be wrong. @param asked how it is given: as a selector, or as a flag */
  problemOf(project: string, asked: { readonly text: string; readonly prefix?: string }): Diagnostic[] {
    const lists = [...this.#lists];
    if (lists.length === 0 || this.#used.has(project)) return [];
    if (lists.some(([, { byId }]) => byId.has(project))) return [];
    const unread = lists.flatMap(([target, { problem }]) =>
      problem === undefined ? [] : [{ target, problem }],
    );
    if (unread.length > 0) return unread.map((one) => unreadable(asked.text, one));
    const same = lists.flatMap(([target]) => {
      const ids = this.#idsOf(project, target);
      return ids.length > 1 ? [ambiguous(asked.text, target, ids)] : [];
    });
    if (same.length > 0 || lists.some(([, { byName }]) => byName.has(project))) return same;
    const { text, prefix = '' } = asked;
    const near = nearTexts(
      project,
      lists.flatMap(([, { byName }]) => [...byName.keys()]),
    );
    return [
      matchesNothing(
        text,
        'there is no project with this name or id, as far as the token can read',
        near.map((name) => `${prefix}${name}`),
      ),
    ];
  }

  #idsOf(name: string, target: string): readonly string[] {
    const list = this.#lists.get(target);
    return list?.problem === undefined ? (list?.byName.get(name) ?? []) : [];
  }
}

function unreadable(
  text: string,
  { target, problem }: { readonly target: string; readonly problem: string },
): Diagnostic {
  return {
    code: 'unknown-reference',
    severity: 'error',
    class: 'incomplete',
    message: `the selector ${quoted(text)} gives a project by its name, and the projects of target ${quoted(target)} could not be read: ${problem}`,
    fix: 'let the token read the projects, or give the id of the project',
  };
}

function ambiguous(text: string, target: string, ids: readonly string[]): Diagnostic {
  return {
    code: 'ambiguous-reference',
    severity: 'error',
    class: 'invalid',
    message: `the selector ${quoted(text)} gives a project by its name, and ${ids.length} projects of target ${quoted(target)} have it: ${quoteSome(ids.toSorted())}`,
    fix: 'give the id of the project',
  };
}
