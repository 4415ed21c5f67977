/**
 * Finds the tracked files of a stack that are missing from the work tree, while the existing ones are listed: a submodule without
 * content or at another commit, and files that a sparse checkout left out or that were removed without git. A path that may match a
 * pattern counts, also below a submodule or a link whose content is unknown.
 */
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { IndexEntry, MissingFiles, NoIndex } from '../../model/checkout.ts';
import { type Diagnostic, incomplete, type Place } from '../../model/diagnostic.ts';
import { quoteSome } from '../../model/quoted.ts';
import { exists, findRepository, liesIn, type Repository, slashes } from './find-stack.ts';

/** @param root the absolute path of a repository's work tree. @returns what its index holds, by paths relative to it */
export type ReadIndex = (root: string) => Promise<readonly IndexEntry[] | NoIndex>;

/** A tracked folder, by the names in it. */
type TrackedFolder = Map<string, TrackedNode>;
type TrackedNode = TrackedEntry | TrackedFolder;

/** `at`: its absolute path. */
type TrackedEntry = IndexEntry & { readonly at: string };

/** The paths that one pattern matches. They are absolute, with links that are not resolved. */
export interface Wanted {
  isFile(path: string): boolean;
  /** whether files below this folder, whose content is unknown, may match */
  mayHold(path: string): boolean;
  /** whether a folder is entered */
  isEntered(path: string): boolean;
}

/** The maximum chain of links: more than the system follows. */
const mostLinks = 40;

export class TrackedFiles {
  readonly #readIndex: ReadIndex;
  readonly #directory: string;
  /** the repository around the stack; files outside of it are not files of the stack */
  readonly #home: Promise<Repository>;
  readonly #roots = new Map<string, Promise<Repository>>();
  readonly #trees = new Map<string, Promise<TrackedFolder>>();
  readonly #found = {
    leftOut: new Set<string>(),
    submodules: new Set<string>(),
    moved: new Set<string>(),
    vanished: new Set<string>(),
  };
  #unknown: string | undefined;

  /** @param directory the stack's folder */
  constructor(readIndex: ReadIndex, directory: string) {
    this.#readIndex = readIndex;
    this.#directory = directory;
    this.#home = findRepository(directory);
  }

  /** Everything that was found missing so far. */
  async missing(): Promise<MissingFiles> {
    const { leftOut, submodules, moved, vanished } = this.#found;
    // Outside of a repository nothing is tracked; inside, git has to be asked even if no folder was entered.
    await this.#nodeAt(await realpath(this.#directory).catch(() => this.#directory));
    return {
      leftOut: [...leftOut].sort(),
      submodules: [...submodules].sort(),
      moved: [...moved].sort(),
      vanished: [...vanished].sort(),
      ...(this.#unknown === undefined ? {} : { unknown: this.#unknown }),
    };
  }

  /** Whether the index of the repository around a real path has it; a submodule is tracked, too. */
  async isTracked(real: string): Promise<boolean> {
    const folder = await this.#nodeAt(dirname(real));
    return folder instanceof Map && folder.has(basename(real));
  }

  /**
   * Notes what is missing in a folder that exists, and the submodules in it that are empty or at another commit.
   * @param names what the folder holds
   * @returns whether manifests may exist that this checkout does not show
   */
  async noteFolder(
    {
      path,
      real,
      names,
    }: { readonly path: string; readonly real: string; readonly names: readonly string[] },
    wanted: Wanted,
  ): Promise<boolean> {
    const node = await this.#nodeAt(real);
    if (!(node instanceof Map)) return false;
    const present = new Set(names);
    let isPartial = false;
    for (const [name, child] of node) {
      const there = join(real, name);
      // Where the file system ignores case, the name may be spelled in another way.
      const isThere = present.has(name) || (await exists(there));
      const isMissing = isThere ? isSubmodule(child) && (await this.#differsFromIndex(child, there)) : true;
      // Without `core.symlinks`, git checks a link out as a file with the link's target as its text.
      const isLinkAsText = isThere && isLink(child) && (await isFile(there));
      const noted = isLinkAsText && !wanted.isFile(join(path, name)) ? { ...child, leftOut: true } : child;
      if ((isMissing || noted !== child) && (await this.#note(noted, join(path, name), wanted)))
        isPartial = true;
    }
    return isPartial;
  }

  /**
   * Notes what is missing at a path that does not exist, or that leads into a submodule that is empty or at another commit.
   * @returns whether manifests may exist that this checkout does not show
   */
  async notePath(path: string, wanted: Wanted, place = path, links = 0): Promise<boolean> {
    const { real, rest } = await deepestExisting(place);
    const [next, ...further] = rest;
    const target = next === undefined ? undefined : await readlink(join(real, next)).catch(() => undefined);
    // A broken link: its target may be missing in this checkout.
    if (target !== undefined && links < mostLinks)
      return this.notePath(path, wanted, resolve(real, target, ...further), links + 1);
    const node = descend(await this.#nodeAt(dirname(real)), [basename(real)]);
    if (isSubmodule(node) && (await this.#differsFromIndex(node, real)))
      return this.#note(node, path, wanted);
    if (await this.#noteAround(real)) return true;
    const lacking = next === undefined ? undefined : descend(await this.#nodeAt(real), rest);
    return lacking !== undefined && this.#note(lacking, path, wanted);
  }

  /** Notes a missing file, link, submodule or folder. @returns whether the checkout lacks it; false for a file that was only deleted */
  async #note(node: TrackedNode, path: string, wanted: Wanted): Promise<boolean> {
    if (node instanceof Map) {
      if (!wanted.isEntered(path)) return false;
      const noted = [...node].map(([name, child]) => this.#note(child, join(path, name), wanted));
      return (await Promise.all(noted)).includes(true);
    }
    const { type, leftOut, moved, at } = node;
    const isWanted = type !== 'submodule' && wanted.isFile(path);
    if (!isWanted && (type === 'file' || !wanted.isEntered(path) || !wanted.mayHold(path))) return false;
    const from = type === 'file' ? this.#directory : await realpath(this.#directory);
    const name = slashes(relative(from, type === 'file' ? path : at));
    const ofSubmodule = moved ? 'moved' : 'submodules';
    const list = leftOut && !moved ? 'leftOut' : type === 'submodule' ? ofSubmodule : 'vanished';
    this.#found[list].add(name);
    return list !== 'vanished';
  }

  /** Notes the submodules around a path that are at another commit. @returns whether there is one */
  async #noteAround(real: string): Promise<boolean> {
    const home = await this.#home;
    const root = await this.#rootOf(real);
    if (root === undefined || root === home.root) return false;
    const submodule = descend(await this.#nodeAt(dirname(root)), [basename(root)]);
    const isMoved = isSubmodule(submodule) && submodule.moved === true;
    if (isMoved) this.#found.moved.add(slashes(relative(await realpath(this.#directory), root)));
    return (await this.#noteAround(dirname(root))) || isMoved;
  }

  /** Whether a submodule differs from the index. */
  async #differsFromIndex({ moved }: TrackedEntry, folder: string): Promise<boolean> {
    return moved === true || this.#isEmpty(folder);
  }

  /** Whether a submodule has no content: an empty folder, or a repository without a checkout. */
  async #isEmpty(folder: string): Promise<boolean> {
    const names = await readdir(folder).catch(() => []);
    if (names.some((name) => name !== '.git')) return false;
    const node = names.length === 0 ? undefined : await this.#nodeAt(folder);
    return !(node instanceof Map) || node.size === 0;
  }

  /** What the repository around a real path tracks there; undefined if nothing is known. */
  async #nodeAt(real: string): Promise<TrackedNode | undefined> {
    const root = await this.#rootOf(real);
    if (root === undefined) return undefined;
    const names = slashes(relative(root, real)).split('/').filter(Boolean);
    let tree = this.#trees.get(root);
    if (tree === undefined) {
      tree = this.#readTree(root);
      this.#trees.set(root, tree);
    }
    return descend(await tree, names);
  }

  async #rootOf(folder: string): Promise<string | undefined> {
    const home = await this.#home;
    if (!home.isGit || !liesIn(home, folder)) return undefined;
    const known = this.#roots.get(folder) ?? findRepository(folder);
    this.#roots.set(folder, known);
    return (await known).root;
  }

  async #readTree(root: string): Promise<TrackedFolder> {
    const entries = await this.#readIndex(root);
    const tree: TrackedFolder = new Map();
    if ('why' in entries) {
      this.#unknown ??= entries.why;
      return tree;
    }
    for (const entry of entries) {
      const names = entry.path.split('/');
      const name = names.pop() ?? '';
      let folder = tree;
      for (const part of names) {
        const known = folder.get(part);
        const next: TrackedFolder = known instanceof Map ? known : new Map();
        folder.set(part, next);
        folder = next;
      }
      folder.set(name, { ...entry, at: join(root, entry.path) });
    }
    return tree;
  }
}

function isLink(node: TrackedNode): node is TrackedEntry {
  return !(node instanceof Map) && node.type === 'link';
}

async function isFile(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() === true;
}

function isSubmodule(node: TrackedNode | undefined): node is TrackedEntry {
  return node !== undefined && !(node instanceof Map) && node.type === 'submodule';
}

/** The node of these names below another one; a submodule or a link on the way is returned for all paths below it. */
function descend(node: TrackedNode | undefined, names: readonly string[]): TrackedNode | undefined {
  const [name, ...rest] = names;
  if (name === undefined || node === undefined) return node;
  if (node instanceof Map) return descend(node.get(name), rest);
  return node.type === 'file' ? undefined : node;
}

/** The real path of the last folder on the way to a path that exists, and the names that follow it. */
async function deepestExisting(path: string): Promise<{ readonly real: string; readonly rest: string[] }> {
  const rest: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => undefined);
    if (real !== undefined) return { real, rest };
    if (at === dirname(at)) return { real: at, rest };
    rest.unshift(basename(at));
  }
}

// What a partial checkout lacks of the files of a stack, as warnings that prevent removals.

/** Warnings: the rest of the stack can be planned, but nothing may be removed. */
export function missingProblems({ leftOut, submodules, moved }: MissingFiles, place: Place): Diagnostic[] {
  const problem = (message: string, fix: string): Diagnostic => ({
    ...incomplete('partial-checkout', `${message}, so nothing is removed`),
    severity: 'warning',
    place,
    fix,
  });
  const named = (paths: readonly string[], one: string, many: string) =>
    `${paths.length === 1 ? `a submodule ${one}` : `${paths.length} submodules ${many}`}: ${quoteSome(paths)}`;
  const update = 'run "git submodule update --init --recursive"';
  return [
    [leftOut, `sparse checkout left out ${quoteSome(leftOut)}`, 'add them with "git sparse-checkout add"'],
    [submodules, named(submodules, 'has no content here', 'have no content here'), update],
    [
      moved,
      named(moved, 'is not at the commit that the index has', 'are not at the commits that the index has'),
      `${update}, add the submodules to the index with "git add"`,
    ],
  ].flatMap(([paths = [], message, fix]) =>
    paths.length === 0
      ? []
      : [problem(String(message), `${String(fix)}, or exclude them from "spec.manifests"`)],
  );
}
