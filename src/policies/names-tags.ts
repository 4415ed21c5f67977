/** Whether a policy is about tags: then those that workspaces inherit have to be known. Pure. */
import type { Policy } from '../model/policy.ts';

export function asksForTags(policy: Policy): boolean {
  return policy.match.tags !== undefined || namesTags(policy);
}

/** Whether the result of its rule, or its message, can depend on tags. Also true for some expressions whose result does not. */
export function namesTags({ rule, message = '' }: Pick<Policy, 'rule' | 'message'>): boolean {
  return [rule, message].some((text) => dependsOnTags(text.replaceAll(textOrComment, '""')));
}

/** What CEL does not read as names: texts, raw ones first because a backslash in them escapes nothing, and comments. */
const textOrComment =
  /[rR]"""[\s\S]*?"""|[rR]'''[\s\S]*?'''|"""(?:[^\\]|\\[\s\S])*?"""|'''(?:[^\\]|\\[\s\S])*?'''|[rR]"[^"\n]*"|[rR]'[^'\n]*'|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\/\/[^\n]*/g;

/** A rule may hand the whole resource on, as in `[resource].all(r, …)`: only another member, and a comparison with null, is not about tags. */
function dependsOnTags(code: string): boolean {
  return /\bresource\b(?!\s*\.\s*(?!tags\b)[A-Za-z_])(?!\s*[!=]=\s*null\b)/.test(code);
}
