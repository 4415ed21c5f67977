/**
 * How the commit of the manifests that a plan is made from stands to the one that was applied last (rule 43): what an
 * older job must know that had to wait for a newer one.
 */

export type CommitOrder =
  /** the same one, a later one, or one of another line */
  | { readonly is: 'onward' }
  /** an ancestor of the one that was applied */
  | {
      readonly is: 'behind';
      readonly applied: string;
      readonly ours: string;
      /** whether the two hold other files of the stack: then a plan from ours takes back what was applied */
      readonly differs: boolean;
    }
  /** nobody can tell; `why` is a clause */
  | { readonly is: 'unknown'; readonly applied: string; readonly why: string };

/** Which files of a repository a stack is made of. Paths are relative to the stack's directory, with slashes. */
export interface StackPaths {
  /** `manifests/app.yaml`, `../teams/app.yaml`: one of the stack's, whether it exists or not */
  isFile(path: string): boolean;
  /** where a symbolic link in this place would lead to files of the stack, wherever they are */
  isOnTheWay(path: string): boolean;
}

/** As people name a commit. */
export function shortCommit(id: string): string {
  return id.slice(0, 12);
}
