/** How the fields of a RemoteStateConsumers compare: a set of names. */
import type { FieldsOf, FieldTable } from '../../model/kind/field.ts';
import { set } from '../../compare/comparisons.ts';
import type { RemoteStateConsumersSpec } from './schema.ts';

export const fields: FieldTable = {
  consumers: { compare: set, default: [] },
} satisfies FieldsOf<RemoteStateConsumersSpec>;
