/** The canonical value of one field of a complete spec; its default if the spec lacks it. */
import type { FieldTable } from '../../model/kind/field.ts';
import type { Json } from '../../model/json/json.ts';
import type { Spec } from '../../model/resource/resource.ts';
import { canonicalDefault, canonicalValue } from '../../compare/canonical-spec.ts';

/** @throws on a name that the table lacks: a bug */
export function fieldValue<S extends Spec>(fields: FieldTable, spec: S, name: keyof S & string): Json {
  const field = fields[name];
  if (field === undefined) throw new Error(`no field ${name}`);
  const value: Json | undefined = spec[name];
  return value === undefined ? canonicalDefault(field) : canonicalValue(field, value);
}
