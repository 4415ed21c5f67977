/**
 * How the commit of the plan's manifests relates to the one that was applied last (rule 43). It warns an older job that ran
 * after a newer one.
 */

export type CommitOrder =
  /** the same commit, a later one, or one of another branch */
  | { readonly is: 'onward' }
  /** an ancestor of the applied commit */
  | {
      readonly is: 'behind';
      readonly applied: string;
      readonly ours: string;
      /** whether the stack's files differ between the two: then a plan from ours reverts what was applied */
      readonly differs: boolean;
    }
  /** cannot be determined; `why` is a clause */
  | { readonly is: 'unknown'; readonly applied: string; readonly why: string };

/** Which files of a repository a stack is made of. Paths are relative to the stack's directory, with slashes. */
export interface StackPaths {
  /** whether the path, such as `manifests/app.yaml` or `../teams/app.yaml`, is one of the stack's files, existing or not */
  isFile(path: string): boolean;
  /** whether files of the stack lie below this path, so that a symbolic link in its place would redirect them */
  isOnTheWay(path: string): boolean;
}

/** The abbreviated commit id for messages. */
export function shortCommit(id: string): string {
  return id.slice(0, 12);
}
