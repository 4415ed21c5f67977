/** How the fields of a TagBindings compare: key by key. */
import type { FieldsOf, FieldTable } from '../../model/kind/field.ts';
import { set, stringMap } from '../../compare/comparisons.ts';
import type { TagBindingsSpec } from './schema.ts';

export const fields: FieldTable = {
  tags: { compare: stringMap, default: {} },
  // An instruction to trueup that the service does not have.
  keep: { compare: set, local: true },
} satisfies FieldsOf<TagBindingsSpec>;
