/** The schema of `move --format json`; `schemas/move.schema.json` is generated from it. Members may be added. */
import { Type } from 'typebox';
import { closed, diagnosticSchema } from '../../report/json/plan-schema.ts';

export const moveSchema = Type.Object(
  {
    version: Type.Literal(1),
    address: Type.String({ description: 'kind/target/name in the former stack' }),
    from: Type.String({ description: 'the stack that has the resource' }),
    to: Type.String({ description: 'the stack that takes it over' }),
    written: Type.Boolean({ description: 'false with --dry-run' }),
    files: Type.Array(
      Type.Object({ file: Type.String(), patch: Type.String(), removed: Type.Boolean() }, closed),
      { description: 'each file that changes, as a unified diff' },
    ),
    diagnostics: Type.Optional(Type.Array(diagnosticSchema)),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/move.schema.json', title: 'trueup move' },
);
