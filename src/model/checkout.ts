/**
 * What git knows about the manifests of a stack: which files it tracks, which of them are missing from the work tree, and how the
 * commit relates to the one that was applied last.
 */
import type { AddressText } from './address.ts';
import type { Path } from './json.ts';

/** One entry of the index of a repository. */
export interface IndexEntry {
  /** relative to the requested directory, with slashes; an entry outside of it begins with `../` */
  readonly path: string;
  readonly type: 'file' | 'link' | 'submodule';
  /** git does not keep it in the work tree: sparse checkout, or `git update-index --skip-worktree` */
  readonly leftOut: boolean;
  /** a submodule that is checked out at another commit than the index has */
  readonly moved?: true;
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
  /** submodules that are checked out at another commit than the index has */
  readonly moved: readonly string[];
  /** files that are missing, and deleted neither in the index nor by a commit */
  readonly vanished: readonly string[];
  /** why it is unknown whether files are missing; absent outside of a repository */
  readonly unknown?: string;
}

// How the commit of the plan's manifests relates to the one that was applied last. Guards use it to stop an older job that runs
// after a newer one, and a job of one branch that runs after a job of another.

export type CommitOrder =
  /** the same commit, or a later one */
  | { readonly is: 'ahead' }
  | {
      /** ours is an ancestor of the applied commit, or neither descends from the other */
      readonly is: 'behind' | 'diverged';
      readonly applied: string;
      readonly ours: string;
      /** whether the stack's files differ between the two commits: if so, a plan from ours reverts what was applied */
      readonly differs: boolean;
    }
  /** the last apply was made from uncommitted manifests, which differ from those of this run */
  | {
      readonly is: 'uncommitted';
      readonly applied: string;
      /** the stack's files of this run have uncommitted changes, too: they are still being edited */
      readonly isEdited: boolean;
      /** the fields that applies of uncommitted manifests changed; undefined if the history does not have them */
      readonly appliedFields: AppliedFields | undefined;
    }
  /** cannot be determined; `why` is a clause */
  | {
      readonly is: 'unknown';
      readonly applied: string;
      readonly why: string;
      /** the applied commit is neither in this clone nor in its remote */
      readonly isLost?: true;
      /** the fields that applies of that commit changed; undefined if the history does not have them */
      readonly appliedFields?: AppliedFields | undefined;
    };

/** The paths of the fields that applies changed, by resource. */
export type AppliedFields = ReadonlyMap<AddressText, readonly Path[]>;

/** Which files of a repository a stack is made of. Paths are relative to the stack's directory, with slashes. */
export interface StackPaths {
  /** whether the path, such as `manifests/app.yaml` or `../teams/app.yaml`, is one of the stack's files, existing or not */
  isFile(path: string): boolean;
  /** whether files of the stack are below this path, so that a symbolic link in its place would redirect them */
  isAncestor(path: string): boolean;
}

/** The abbreviated commit id for messages. */
export function shortCommit(id: string): string {
  return id.slice(0, 12);
}
