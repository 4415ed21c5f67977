/** What a reviewer can do with a plan: one or two sentences, with what is to be typed between quotes. */
import { hasErrors } from '../../model/diagnostic.ts';
import { blockingIds } from '../../model/plan/guard.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { quoted } from '../../model/quoted.ts';

export function nextSteps({ digest, problems, guards, changes, coverage }: Plan): string {
  if (hasErrors(problems)) return 'Nothing can be applied before the problems are solved. Then plan again.';
  if (blockingIds(guards).length > 0)
    return 'Review this digest: whoever approves it acknowledges its guards by name, with the command that stands beside them. Any other plan is refused.';
  if (changes.length === 0)
    return coverage.complete
      ? 'There is nothing to apply.'
      : 'Plan again when everything can be looked at: whether there is something to do is not known.';
  return `Review this digest. After the merge, "trueup apply" with the plan file, or ${quoted(`trueup apply --approve ${digest}`)}, applies this and nothing else; any other plan is refused.`;
}
