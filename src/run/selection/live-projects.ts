/** The projects of the targets of an export, as their services list them: a selection gives a project by its name or its id. */
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Kind, Session } from '../../model/kind.ts';
import type { NameList } from '../../model/named-reference.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import type { LiveResource } from '../../model/resource.ts';
import { nearTexts } from './near-matches.ts';
import { matchesNothing } from './selectors.ts';

const what = 'project';

export class LiveProjects {
  /** by target */
  readonly #lists = new Map<string, NameList>();
  /** ids that resources refer to: those of projects that no list has, too */
  readonly #used = new Set<string>();

  /** Reads the list of the target, if resources of this kind are in projects. @throws WireError when the target cannot be reached */
  async read(session: Session, { named }: Kind): Promise<void> {
    if (named?.references.some((reference) => reference.what === what))
      this.#lists.set(session.target.name, await named.list(session, what));
  }

  note({ spec: { projectId } }: LiveResource): void {
    if (typeof projectId === 'string') this.#used.add(projectId);
  }

  /** @param project a name or an id. Names of a list that is not complete do not count */
  has({ address, spec: { projectId } }: Pick<LiveResource, 'address' | 'spec'>, project: string): boolean {
    if (typeof projectId !== 'string') return false;
    return projectId === project || this.#idsOf(project, address.target).includes(projectId);
  }

  /** Why a selection by this project cannot be trusted. @param asked where it is given: as a selector, or as a flag */
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
