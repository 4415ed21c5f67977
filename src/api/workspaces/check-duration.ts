/** The rule about durations of a project and of a workspace. */
import type { Json } from '../../model/json.ts';
import type { ResourceProblem } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';

/** The rule about the time without activity after which resources are destroyed, of a project or of a workspace. Offline. */
export function checkDuration(duration: Json | undefined): ResourceProblem[] {
  if (typeof duration !== 'string' || /^[1-9]\d{0,3}[dh]$/.test(duration)) return [];
  return [
    {
      code: 'bad-duration',
      severity: 'error',
      path: ['autoDestroyActivityDuration'],
      message: `${quoted(duration)} is not a duration that the service accepts`,
      allowed: '1 to 9999, followed by "d" or "h"',
      fix: 'write it like "14d" or "36h"',
    },
  ];
}
