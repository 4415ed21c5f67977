/** The message for a reference to a resource that was not found. */
import { type Address, formatAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { nearestWord } from '../model/nearest-word.ts';
import { quoted } from '../model/quoted.ts';
import type { PlanContext } from './plan-context.ts';

/**
 * The message for a name that was not found: it does not exist, or it could not be read.
 * @param refers the beginning of the sentence, up to the name: `"A" refers to "B"`
 */
export function missingReference(
  context: PlanContext,
  to: Address,
  refers: string,
): Pick<Diagnostic, 'class' | 'message' | 'fix'> {
  const whyIncomplete = context.isInView(to) ? context.incompleteReason(to) : undefined;
  // A resource outside of a selection may still be declared.
  const [there, add] = context.isSelection ? ['in this selection', 'add it'] : ['declared', 'declare it'];
  if (whyIncomplete === undefined) {
    const near = nearestWord(to.name, namesBeside(context, to));
    return {
      class: 'invalid',
      message: `${refers}, which is neither ${there} nor live`,
      fix: near === undefined ? `${add}, or correct the name` : `did you mean ${quoted(near)}? Or ${add}`,
    };
  }
  return {
    class: 'incomplete',
    message: `${refers}, which is not ${there}, and it is unknown whether it is live: ${whyIncomplete}`,
    fix: `make it possible to read ${quoted(formatAddress(to))}, then plan again`,
  };
}

/** The declared and live names of the same kind and target. */
function namesBeside({ desired, live }: PlanContext, { kind, target }: Address): readonly string[] {
  return [...desired.values(), ...live.values()]
    .map(({ address }) => address)
    .filter((address) => address.kind === kind && address.target === target)
    .map(({ name }) => name);
}
