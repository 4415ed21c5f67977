/** The schemas of the policies in a plan, and of the ids of guards, which include policies. */
import { Type } from 'typebox';
import { type GuardId, guardIds } from '../../model/guard.ts';

const closed = { additionalProperties: false };
const count = Type.Integer({ minimum: 0 });

/** A guard of trueup, or the guard of a policy. */
export const anyGuardId = { type: 'string', pattern: `^(${guardIds.join('|')}|policy/[a-z0-9-]{1,63})$` };

export const policiesSchema = Type.Object(
  {
    count,
    at: Type.String({ description: 'RFC 3339: when the plan was checked' }),
    sources: Type.Array(
      Type.Object(
        {
          policies: count,
          files: Type.Optional(
            Type.Array(Type.String(), { description: 'files of the work tree, relative to the stack' }),
          ),
          remote: Type.Optional(Type.String()),
          ref: Type.Optional(Type.String()),
          path: Type.Optional(Type.String()),
          commit: Type.Optional(Type.String({ description: 'the commit that they were read from' })),
        },
        closed,
      ),
    ),
    exempted: Type.Array(
      Type.Object(
        {
          guard: Type.Unsafe<GuardId>(anyGuardId),
          address: Type.String(),
          until: Type.String(),
          owner: Type.String(),
        },
        closed,
      ),
      { description: 'violations that do not count, because of an exemption' },
    ),
  },
  { ...closed, description: 'the policies that the plan was checked with; not part of the digest' },
);

const text = (description: string) => Type.String({ description });

/** The schema of the names in a plan that resolve to something else than at the last apply. */
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

/** The schema of the part of a stack that a plan or a report of drift covers. */
export const partSchema = Type.Object(
  {
    selectors: Type.Array(Type.String(), { description: 'what "--select" says, sorted' }),
    of: Type.Integer({ minimum: 0, description: 'how many resources the whole stack declares' }),
    along: Type.Array(
      Type.Object(
        {
          address: Type.String(),
          neededBy: Type.Array(Type.String(), { description: 'addresses of the part' }),
        },
        { additionalProperties: false },
      ),
      { description: 'resources that are not selected, and that selected ones need' },
    ),
    leftOut: Type.Integer({
      minimum: 0,
      description:
        'undeclared resources and records that a plan of the whole stack would remove, release, withdraw or forget',
    }),
  },
  {
    additionalProperties: false,
    description: 'present for a part of the stack that "--select" chose; "selection" has its resources',
  },
);
