/** How the fields of a RemoteStateConsumers compare: a set of names. */
import type { FieldTable } from '../../model/kind/field.ts';
import { set } from '../../compare/comparisons.ts';

export const fields: FieldTable = { consumers: { compare: set, default: [] } };
