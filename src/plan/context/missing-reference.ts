/** The message for a name that was not found: it does not exist, or it could not be looked for (rules 5, 8). */
import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { quoted } from '../../model/quoted.ts';
import type { PlanContext } from './plan-context.ts';

/** @param refers the beginning of the sentence, up to the name: `"A" refers to "B"` */
export function missingReference(
  context: PlanContext,
  to: Address,
  refers: string,
): Pick<Diagnostic, 'class' | 'message' | 'fix'> {
  const blind = context.isInView(to) ? context.blindSpot(to) : undefined;
  // A resource outside of a selection may be declared all the same.
  const [there, add] = context.isSelection ? ['in this selection', 'add it'] : ['declared', 'declare it'];
  if (blind === undefined) {
    return {
      class: 'invalid',
      message: `${refers}, which is neither ${there} nor live`,
      fix: `${add}, or correct the name`,
    };
  }
  return {
    class: 'incomplete',
    message: `${refers}, which is not ${there}, and nobody can tell whether it is live: ${blind}`,
    fix: `make it possible to read ${quoted(formatAddress(to))}, then plan again`,
  };
}
