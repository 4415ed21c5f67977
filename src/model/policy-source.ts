/** Where a stack has its policies from. */

export type PolicySource =
  /** patterns, relative to the folder of the stack */
  | { readonly files: readonly string[] }
  /** a file or a folder in a branch or tag of a remote; from the root of its repository */
  | { readonly git: PolicyRef; readonly earlier?: true }
  /** the files of an earlier commit, as they were read */
  | { readonly texts: readonly PolicyText[]; readonly commit: string; readonly earlier: true };

// `earlier`: the stack had it at an earlier commit, and what it has now does not loosen it.

export interface PolicyText {
  /** for people */
  readonly file: string;
  readonly text: string;
}

export interface PolicyRef {
  readonly remote: string;
  readonly ref: string;
  readonly path: string;
}
