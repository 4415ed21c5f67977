/**
 * What git tracks, and what of it is missing from the work tree. A manifest that is only missing from a checkout must not be taken
 * for one that was deleted.
 */

/** One entry of the index of a repository. */
export interface IndexEntry {
  /** relative to the directory that was asked about, with slashes; an entry outside of it begins with `../` */
  readonly path: string;
  readonly type: 'file' | 'link' | 'submodule';
  /** git does not keep it in the work tree: sparse checkout, or `git update-index --skip-worktree` */
  readonly leftOut: boolean;
}

/** Git is missing, or refuses the repository. */
export interface NoIndex {
  /** the reason, as a clause of a message */
  readonly why: string;
}

/** The tracked files of a stack that its work tree lacks. Paths are relative to the stack's directory, with slashes, sorted. */
export interface MissingFiles {
  /** files that a sparse checkout left out */
  readonly leftOut: readonly string[];
  /** submodules without content */
  readonly submodules: readonly string[];
  /** files that are missing, and deleted neither in the index nor by a commit */
  readonly deleted: readonly string[];
  /** why git cannot tell whether files are missing; absent outside of a repository */
  readonly unknown?: string;
}
