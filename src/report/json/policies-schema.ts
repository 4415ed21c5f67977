/** The schema of what a plan says about policies, and of the ids of guards, among which those of policies are. */
import { Type } from 'typebox';
import { type GuardId, guardIds } from '../../model/guard.ts';

const closed = { additionalProperties: false };
const count = Type.Integer({ minimum: 0 });

/** A guard of trueup, or that of a policy. */
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
      { description: 'violations that count as none, because of an exemption' },
    ),
  },
  { ...closed, description: 'the policies that the plan was checked with; outside of the digest' },
);
