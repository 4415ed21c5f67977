/**
 * Makes a schema nullable in the one allowed way: `type: ["string", "null"]`, never `anyOf`, so that messages stay readable. It is
 * in a separate file because only schemas import it: the build replaces them by data, so that TypeBox is not loaded at startup.
 */
import { type Static, type TSchema, Type } from 'typebox';

/** The same schema, which also allows `null`: "the service's default". */
export function nullable<T extends TSchema>(schema: T) {
  const { type, enum: values, ...rest } = schema as T & { type?: string; enum?: readonly unknown[] };
  return Type.Unsafe<Static<T> | null>({
    ...rest,
    type: [type ?? 'string', 'null'],
    ...(values === undefined ? {} : { enum: [...values, null] }),
  });
}
