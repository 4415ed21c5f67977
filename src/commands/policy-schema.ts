/** The schemas of `policy test` and `policy replay` with `--format json`. Members may be added. */
import { Type } from 'typebox';
import { count, diagnosticSchema } from '../report/json/plan-schema.ts';

const found = { enum: ['pass', 'violation', 'error', 'no-match'] };
const diagnostics = Type.Optional(Type.Array(diagnosticSchema));

export const policyTestsSchema = Type.Object(
  {
    policies: Type.Array(
      Type.Object({ name: Type.String(), file: Type.String(), tests: count, failed: count }),
      { description: 'each policy with the number of its tests, and of those that failed' },
    ),
    untested: Type.Array(Type.String(), { description: 'names of policies without tests' }),
    tests: Type.Array(
      Type.Object({
        policy: Type.String(),
        test: Type.String(),
        expected: Type.Unsafe<string>(found),
        found: Type.Unsafe<string>(found),
        expectedMessage: Type.Optional(Type.String({ description: 'the message that the test names' })),
        message: Type.Optional(Type.String({ description: 'of the violation, or why the rule fails' })),
        passed: Type.Boolean(),
        place: Type.Object({ file: Type.String(), line: Type.Integer() }),
      }),
    ),
    diagnostics,
  },
  { $id: 'https://trueup.dev/schemas/policy-tests.schema.json', title: 'trueup policy test' },
);

export const policyReplaySchema = Type.Object(
  {
    since: Type.String({ format: 'date-time' }),
    policies: count,
    applies: Type.Array(
      Type.Object({
        id: Type.String({ description: 'the id for "trueup history show"' }),
        began: Type.String({ format: 'date-time' }),
        who: Type.String(),
        changes: count,
        findings: Type.Array(
          Type.Object({
            policy: Type.String(),
            severity: Type.Unsafe<string>({ enum: ['deny', 'confirm', 'warn'] }),
            address: Type.String(),
            is: Type.Unsafe<string>({
              enum: ['violation', 'exempt', 'unknown'],
              description: 'unknown: the history lacks data that the rule reads',
            }),
            message: Type.Optional(Type.String()),
          }),
        ),
      }),
      { description: 'applies with changes, newest first' },
    ),
    diagnostics,
  },
  { $id: 'https://trueup.dev/schemas/policy-replay.schema.json', title: 'trueup policy replay' },
);
