/** One rule of the architecture, as data: what it forbids, why, and how it looks when somebody breaks it. */
import type { Breakage, SourceTree } from './source-tree.ts';

export interface Rule {
  /** a sentence that is true of the repository */
  readonly says: string;
  /** the error's text for whoever breaks it: the reason, and with it the way out */
  readonly because: string;
  /** what breaks it, one line each: `src/compare/diff.ts imports src/api/transport/connection.ts` */
  violations(tree: SourceTree): readonly string[];
  /** ways to break it, each of which must be noticed */
  breakages(tree: SourceTree): readonly Breakage[];
}
