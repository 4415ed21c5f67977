/** Makes a schema nullable in the one allowed way: `type: ["string", "null"]`, never `anyOf`, so that messages stay readable (rule 7). */
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
