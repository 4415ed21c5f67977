/** The schema of a RemoteStateConsumers' spec: the source of its type and of the JSON Schema for editors. */
import { type Static, Type } from 'typebox';
import { nullable } from '../../model/nullable.ts';
import type { Named } from '../../model/kind-specs.ts';

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
    examples: [{ consumers: ['app-prod', 'app-staging'] }],
  },
);

/** Values may have any type: in a short form, rules also see values of the stack's defaults that the schema refuses. */
export type RemoteStateConsumersSpec = Named<Static<typeof remoteStateConsumersSpec>>;
