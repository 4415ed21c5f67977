/** The schema of a TagBindings' spec: the source of its type and of the JSON Schema for editors. */
import { type Static, Type } from 'typebox';
import type { Named } from '../../model/kind-specs.ts';

export const tagBindingsSpec = Type.Object(
  {
    tags: Type.Unsafe<Record<string, string | null> | null>({
      type: ['object', 'null'],
      additionalProperties: { type: ['string', 'null'] },
      description:
        'Key-value tags: all that are bound to the workspace itself, except those that "keep" names. At most nine; the tenth is the ownership tag of trueup. A value of null is "". null: {}.',
      examples: [{ env: 'prod', team: 'network' }],
    }),
    keep: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          'Keys that others manage and this document leaves alone; "*" matches any characters. Keys that begin with "hc:" or "hcp:" are always left alone.',
        examples: [['cost-*']],
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'The key-value tags of the workspace of the same name, which other teams can own this way.',
    examples: [{ tags: { env: 'prod', team: 'network' }, keep: ['cost-*'] }],
  },
);

/** Values may have any type: in a short form, rules also see values of the stack's defaults that the schema refuses. */
export type TagBindingsSpec = Named<Static<typeof tagBindingsSpec>>;
