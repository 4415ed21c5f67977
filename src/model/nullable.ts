/**
 * Makes a schema nullable in the one allowed way: `type: ["string", "null"]`, never `anyOf`, so that messages stay readable. A
 * file of its own: only schemas import it, which the build replaces by data, so that the library of schemas is not
 * loaded at the start.
 */
import { type Static, type TSchema, Type } from 'typebox';

/** The same schema, admitting `null`: "the service's default". */
export function nullable<T extends TSchema>(schema: T) {
  const { type, enum: values, ...rest } = schema as T & { type?: string; enum?: readonly unknown[] };
  return Type.Unsafe<Static<T> | null>({
    ...rest,
    type: [type ?? 'string', 'null'],
    ...(values === undefined ? {} : { enum: [...values, null] }),
  });
}
