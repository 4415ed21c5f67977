/**
 * The plan that a comment carries in a hidden line: its content, with its digest and the commit that it was made for. Everyone who may edit
 * the comment may change the line, so it is read only if its content has the digest. The caller decides whether to trust that digest.
 */
import { hiddenContent, readHiddenContent } from '../approvals/hidden-lines.ts';
import { memberOf } from '../model/json.ts';
import type { Plan } from '../model/plan.ts';
import { planContent, type ProvedPlan, proveContent } from '../plan/approved-plans.ts';
import { withRedactedValues } from '../redaction/stored-values.ts';
import type { CliHost } from './host.ts';

interface CarriedPlan extends ProvedPlan {
  /** the commit that the plan was made for; absent where it was not known */
  readonly commit?: string;
}

/**
 * @param commit of the pull request
 * @returns undefined for a plan that holds a secret of the run: anyone who can read the comment could try to guess the secret from its hash
 */
export function carriedLine(
  plan: Plan,
  commit: string | undefined,
  { clean }: Pick<CliHost, 'clean'>,
): string | undefined {
  const { stack, digest } = plan;
  const hasSecret = plan.changes.some(({ address, fields }) =>
    fields.some((field) => withRedactedValues({ stack, address }, field, clean).redacted !== undefined),
  );
  if (hasSecret) return undefined;
  const content = { ...planContent(plan), digest, ...(commit === undefined ? {} : { commit }) };
  // A secret outside of field values, such as in a name, is not redacted in plans: then the plan is not carried.
  return JSON.stringify(clean(content)) === JSON.stringify(content) ? hiddenContent(content) : undefined;
}

/** @returns undefined if there is no such line, or its content does not have the digest that it names */
export function readCarriedPlan(body: string, stack: string): CarriedPlan | undefined {
  const content = readHiddenContent(body);
  const [digest, commit] = ['digest', 'commit'].map((name) => memberOf(content, name));
  if (typeof digest !== 'string') return undefined;
  const proved = proveContent(content, { stack, digest });
  return proved && { ...proved, ...(typeof commit === 'string' ? { commit } : {}) };
}
