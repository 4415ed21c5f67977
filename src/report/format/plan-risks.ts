/** What reports of a plan say about its guards besides their messages. */
import { hasErrors } from '../../model/diagnostic.ts';
import { blockingIds, type Concern, type GuardId } from '../../model/plan/guard.ts';
import type { Plan } from '../../model/plan/plan.ts';

/** What guards say of single resources, but for the access gained and lost, which is told with the changes. */
export function hiddenConcerns({ guards, changes }: Plan): (Concern & { readonly id: GuardId })[] {
  const told = new Set(changes.flatMap(({ risks = [] }) => risks.map(({ message }) => message)));
  return guards.flatMap(({ id, concerns }) =>
    concerns.flatMap(({ address, messages }) => {
      const untold = messages.filter((message) => !told.has(message));
      return untold.length === 0 ? [] : [{ id, address, messages: untold }];
    }),
  );
}

/** The command for this very plan. With problems there is none: they have to be solved first. */
export function usableAcknowledgement(plan: Plan, stack: string | undefined): string | undefined {
  return hasErrors(plan.problems) ? undefined : acknowledgement(plan, stack);
}

/**
 * The command that acknowledges the guards of a plan; undefined when none blocks.
 * @param stack the stack's argument on the command line; absent for the one in the working directory
 */
export function acknowledgement(
  { guards, digest }: Pick<Plan, 'guards' | 'digest'>,
  stack?: string,
): string | undefined {
  const blocking = blockingIds(guards);
  if (blocking.length === 0) return undefined;
  const command = ['trueup apply', ...(stack === undefined ? [] : [stack])].join(' ');
  return `${command} --approve ${digest} --ack ${blocking.join(',')}`;
}
