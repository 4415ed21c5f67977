/** The schema of the names in a plan that resolve to something else than at the last apply. */
import { Type } from 'typebox';

const text = (description: string) => Type.String({ description });

export const changedNamesSchema = Type.Array(
  Type.Object(
    {
      address: Type.String(),
      kind: Type.String(),
      target: Type.String(),
      name: Type.String(),
      resource: Type.Optional(text('the address of the resource that has the name')),
      field: Type.Optional(text('the field of the id, if the name is given in place of an id')),
      id: text('the remote id that the name has now'),
      recorded: Type.Array(Type.String(), { description: 'the ids that the ledger has under this name' }),
      recordedAs: Type.Optional(text('the address under which the ledger has the id')),
    },
    { additionalProperties: false },
  ),
  {
    description:
      'names that resolve to something else than at the last apply; they are approved with the changes',
  },
);
