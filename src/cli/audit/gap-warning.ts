/** Words for what is missing from an archive. */
import type { Diagnostic } from '../../model/diagnostic.ts';
import { quoted } from '../../model/quoted.ts';
import { type TargetGap, timeText } from '../../report/audit/events-json.ts';

export function gapWarning({ target, from, to, why }: TargetGap): Diagnostic {
  return {
    code: 'trail-gap',
    severity: 'warning',
    class: 'failure',
    message: `events of target ${quoted(target)} between ${timeText(from)} and ${timeText(to)} may be missing: ${why}`,
  };
}
