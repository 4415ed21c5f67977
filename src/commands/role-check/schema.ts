/** The schema of `role check --format json`; `schemas/login.schema.json` is generated from it. Members may be added. */
import { Type } from 'typebox';
import { loginCheckNames } from '../../model/login-check.ts';
import { closed, diagnosticSchema, placeSchema } from '../../report/json/plan-schema.ts';

const check = Type.Object(
  {
    name: Type.Enum([...loginCheckNames], { type: 'string' }),
    result: Type.Enum(['passed', 'failed', 'open'], {
      type: 'string',
      description: 'open: only the service or its cluster can tell',
    }),
    message: Type.String(),
    fix: Type.Optional(Type.String({ description: 'what to change, where the check failed' })),
    field: Type.Optional(
      Type.Object(
        { of: Type.Enum(['role', 'config'], { type: 'string' }), name: Type.String() },
        { ...closed, description: 'what the fix is about, where a manifest can repair it' },
      ),
    ),
    place: Type.Optional(placeSchema),
  },
  closed,
);

const trial = Type.Union(
  [
    Type.Object(
      {
        granted: Type.Literal(true),
        lifetime: Type.Number({ description: 'of the token, in seconds; 0 never ends' }),
        policies: Type.Array(Type.String()),
        warnings: Type.Array(Type.String(), { description: 'what the service remarked' }),
        unrevoked: Type.Optional(
          Type.String({ description: 'why the token could not be revoked; missing when it was' }),
        ),
      },
      closed,
    ),
    Type.Object({ granted: Type.Literal(false), why: Type.String() }, closed),
  ],
  { description: 'with --try: the answer of the service to a real login' },
);

export const loginSchema = Type.Object(
  {
    version: Type.Literal(1),
    stack: Type.String(),
    target: Type.String(),
    mount: Type.String(),
    role: Type.String(),
    against: Type.Enum(['live', 'declared'], { type: 'string' }),
    succeeds: Type.Boolean({
      description: 'no check failed, and no login was refused; when it is false, the exit code is 2',
    }),
    checks: Type.Array(check, {
      description: 'in the order of the service: it refuses a login for the first one that fails',
    }),
    trial: Type.Optional(trial),
    diagnostics: Type.Optional(
      Type.Array(diagnosticSchema, { description: 'other diagnostics of the command' }),
    ),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/login.schema.json', title: 'trueup role check' },
);
