/**
 * What roles may be called. The service keeps their names in lower case, and so names them and patterns alike
 * (wire/cluster-auth 2.5).
 */
import type { NameRule } from '../../model/kind/kind.ts';

export const names = {
  pattern: /^\w(?:[\w.-]*\w)?$/,
  says: 'letters, digits, "_", "." and "-", the first and the last neither "." nor "-"; kept in lower case',
  fold: (name: string) => name.toLowerCase(),
} satisfies NameRule;
