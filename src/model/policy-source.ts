/** Where the policies of a stack come from. */

export type PolicySource =
  /** patterns, relative to the folder of the stack */
  | { readonly files: readonly string[] }
  /** a file or a folder in a branch or tag of a remote; its path begins at the root of the repository */
  | { readonly git: PolicyRef; readonly earlier?: true }
  /** the files of an earlier commit, as they were read */
  | { readonly texts: readonly PolicyText[]; readonly commit: string; readonly earlier: true };

// `earlier`: the source of an earlier commit of the stack. It still counts, so that a commit cannot loosen its own policies.

export interface PolicyText {
  /** the name of the file, for messages */
  readonly file: string;
  readonly text: string;
}

export interface PolicyRef {
  readonly remote: string;
  readonly ref: string;
  readonly path: string;
}
