/** The schema of what plans and drift say about a part of a stack. */
import { Type } from 'typebox';

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
