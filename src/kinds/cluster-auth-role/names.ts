/**
 * The rule for names of roles. The service stores them in lower case, so names and patterns are compared in lower case
 * (wire/cluster-auth 2.5).
 */
import type { NameRule } from '../../model/kind/kind.ts';

export const names = {
  pattern: /^\w(?:[\w.-]*\w)?$/,
  description:
    'letters, digits, "_", "." and "-", the first and the last neither "." nor "-"; kept in lower case',
  fold: (name: string) => name.toLowerCase(),
} satisfies NameRule;
