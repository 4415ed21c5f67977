/** The schemas of `approve --format json` and of its list. Files in `schemas/` are generated from them. Members may be added. */
import { Type } from 'typebox';
import { closed, diagnosticSchema } from '../../report/json/plan-schema.ts';

const moment = (description: string) => Type.String({ format: 'date-time', description });
const guards = (description: string) => Type.Array(Type.String(), { description });

const place = {
  version: Type.Literal(1),
  stack: Type.String(),
  remote: Type.String({ description: 'name of the remote that keeps the approvals' }),
  ref: Type.String({ description: 'the git ref of that remote in which they are' }),
};

const signed = {
  digest: Type.String({ description: 'of the plan' }),
  commit: Type.String({ description: 'the head commit that was reviewed' }),
  acknowledged: guards('guards'),
  at: moment('when it was signed'),
  until: moment('when it expires'),
  key: Type.String({ description: 'fingerprint of the key' }),
  by: Type.Optional(
    Type.String({ description: 'name of the key at HEAD; missing if it is not admitted there' }),
  ),
};

export const approvalSchema = Type.Object(
  {
    ...place,
    repository: Type.String({ description: 'the remote, without scheme and login' }),
    path: Type.String({ description: 'of the stack file, below the root of the repository' }),
    ...signed,
    unacknowledged: Type.Optional(guards('guards that block the plan and still have to be acknowledged')),
    diagnostics: Type.Optional(Type.Array(diagnosticSchema)),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/approval.schema.json', title: 'trueup approve' },
);

export const approvalsSchema = Type.Object(
  {
    ...place,
    approvals: Type.Array(
      Type.Object(
        {
          ...signed,
          why: Type.Optional(
            Type.String({ description: 'why it does not count at HEAD; missing if it may count' }),
          ),
        },
        closed,
      ),
      { description: 'newest first' },
    ),
    unreadable: Type.Integer({ description: 'files in the ref that are not approvals' }),
    diagnostics: Type.Optional(Type.Array(diagnosticSchema)),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/approvals.schema.json', title: 'trueup approve --list' },
);
