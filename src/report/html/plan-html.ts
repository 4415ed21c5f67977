/** A plan as one HTML page. */
import type { Plan } from '../../model/plan/plan.ts';
import { htmlDocument } from './document.ts';
import { type PlanHtmlOptions, planReport } from './plan-view.ts';

/** @param options.clean redacts secrets in all texts, those of calls among them */
export function renderPlanHtml(
  plan: Plan,
  {
    clean = (all) => all,
    ...options
  }: PlanHtmlOptions & { readonly clean?: <T extends object>(value: T) => T } = {},
): string {
  return htmlDocument(clean(planReport(plan, options)));
}
