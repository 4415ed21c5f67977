/** The spec of a RemoteStateConsumers as users write it: one source for the type and for the JSON Schema of editors. */
import { type Static, Type } from 'typebox';
import { nullable } from '../../model/kind/nullable.ts';
import type { Named } from '../../model/kind/spec-types.ts';

export const remoteStateConsumersSpec = Type.Object(
  {
    consumers: nullable(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          'Names of the workspaces that may read the state of the workspace of the same name: all of them, in any order. Not allowed while that workspace shares its state globally. null: [].',
        examples: [['app-prod', 'app-staging']],
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'Who may read the state of the workspace of the same name, besides itself.',
  },
);

/** Its values may be any: of a short form the rules see what the stack's defaults put beneath it, however wrong that is. */
export type RemoteStateConsumersSpec = Named<Static<typeof remoteStateConsumersSpec>>;
