/** The schema of `doctor --format json`; `schemas/doctor.schema.json` is generated from it. Members may be added. */
import { Type } from 'typebox';
import { closed, count, diagnosticSchema } from '../../report/json/plan-schema.ts';
import { levels, machineChecks, problemIds, targetChecks } from './finding.ts';

const checks = [...machineChecks, ...targetChecks];

const finding = Type.Object(
  {
    check: Type.Enum(checks, { type: 'string' }),
    id: Type.Enum([...checks, ...problemIds], {
      type: 'string',
      description: 'the name of the check when nothing is wrong, else the name of the problem',
    }),
    level: Type.Enum([...levels], {
      type: 'string',
      description: 'error: an apply would stop; info: nothing is wrong, or it was not checked',
    }),
    target: Type.Optional(Type.String({ description: 'the target that it is about' })),
    message: Type.String(),
    fix: Type.Optional(Type.String({ description: 'what to do' })),
  },
  closed,
);

export const doctorSchema = Type.Object(
  {
    version: Type.Literal(1),
    stack: Type.Optional(
      Type.String({ description: 'its name; missing when the stack file cannot be used' }),
    ),
    healthy: Type.Boolean({ description: 'no finding is an error; when it is false, the exit code is 1' }),
    summary: Type.Object({ errors: count, warnings: count }, closed),
    findings: Type.Array(finding, {
      description: 'at least one for each check; the embedded service has only one',
    }),
    diagnostics: Type.Optional(
      Type.Array(diagnosticSchema, { description: 'other diagnostics of the command' }),
    ),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/doctor.schema.json', title: 'trueup doctor' },
);
