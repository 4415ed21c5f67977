/** What a partial checkout lacks of the files of a stack, as warnings that prevent removals. */
import type { MissingFiles } from '../../model/checkout.ts';
import { type Diagnostic, incomplete, type Place } from '../../model/diagnostic.ts';
import { quoteSome } from '../../model/quoted.ts';

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
