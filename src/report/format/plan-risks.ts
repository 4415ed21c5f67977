/** What reports of a plan say about its guards besides their messages. */
import { hasErrors } from '../../model/diagnostic.ts';
import type { Concern, GuardId } from '../../model/plan/guard.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { acknowledgement } from '../terminal/guard-text.ts';

/** What guards say of single resources, but for the access gained and lost, which is told with the changes. */
export function untoldConcerns({ guards, changes }: Plan): (Concern & { readonly id: GuardId })[] {
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
