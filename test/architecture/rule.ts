/** One rule of the architecture, as data: what it forbids, why, and examples that break it. */
import type { Breakage, SourceTree } from './source-tree.ts';

export interface Rule {
  /** a sentence that is true of the repository */
  readonly title: string;
  /** the text of the error: the reason for the rule, and how to keep it */
  readonly because: string;
  /** the places that break it, one line each: `src/compare/diff.ts imports src/api/transport/connection.ts` */
  violations(tree: SourceTree): readonly string[];
  /** examples that break it, each of which must be detected */
  breakages(tree: SourceTree): readonly Breakage[];
}
