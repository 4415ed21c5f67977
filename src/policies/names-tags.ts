/** Whether a policy is about tags: then the tags that workspaces inherit must be known. Pure. */
import type { Policy } from '../model/policy.ts';

export function asksForTags(policy: Policy): boolean {
  return policy.match.tags !== undefined || namesTags(policy);
}

/** Whether the result of its rule, or its message, can depend on tags. Also true for some that do not depend on them. */
export function namesTags({ rule, message = '' }: Pick<Policy, 'rule' | 'message'>): boolean {
  return [rule, message].some((text) => dependsOnTags(text.replaceAll(textOrComment, '""')));
}

/** Texts and comments, in which CEL reads no names. Raw texts come first, because a backslash in them escapes nothing. */
const textOrComment =
  /[rR]"""[\s\S]*?"""|[rR]'''[\s\S]*?'''|"""(?:[^\\]|\\[\s\S])*?"""|'''(?:[^\\]|\\[\s\S])*?'''|[rR]"[^"\n]*"|[rR]'[^'\n]*'|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\/\/[^\n]*/g;

/**
 * Whether code may read tags. Each use of `resource` counts, except access to another member and a comparison with null, because a rule
 * may pass the whole resource on, as in `[resource].all(r, …)`.
 */
function dependsOnTags(code: string): boolean {
  return /\bresource\b(?!\s*\.\s*(?!tags\b)[A-Za-z_])(?!\s*[!=]=\s*null\b)/.test(code);
}
