/** The schema of `accept --format json`; `schemas/accept.schema.json` is generated from it. Members may be added. */
import { Type } from 'typebox';
import { closed, diagnosticSchema } from '../../report/json/plan-schema.ts';

const address = {
  address: Type.String({ description: 'kind/target/name' }),
  kind: Type.String(),
  target: Type.String(),
  name: Type.String(),
  path: Type.String({ description: 'JSON pointer below the spec; empty when it is the whole resource' }),
};

export const acceptSchema = Type.Object(
  {
    version: Type.Literal(1),
    stack: Type.String(),
    written: Type.Boolean({ description: 'false where it was only shown' }),
    files: Type.Array(
      Type.Object({ file: Type.String(), patch: Type.String(), removed: Type.Boolean() }, closed),
      { description: 'each file that changes, as a unified diff' },
    ),
    accepted: Type.Array(
      Type.Object(
        {
          ...address,
          value: Type.Optional(Type.Unknown({ description: 'the live value' })),
          removed: Type.Optional(Type.Literal(true)),
          file: Type.String(),
          line: Type.Integer(),
        },
        closed,
      ),
    ),
    widens: Type.Array(
      Type.Object(
        { ...address, message: Type.String(), guard: Type.String({ description: 'the guard of a plan' }) },
        closed,
      ),
      { description: 'the accepted values that widen access, as a plan that sets them would say' },
    ),
    refused: Type.Array(Type.Object({ ...address, code: Type.String() }, closed), {
      description: 'what is left as it is; the diagnostics say why, and what to do',
    }),
    diagnostics: Type.Optional(Type.Array(diagnosticSchema)),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/accept.schema.json', title: 'trueup accept' },
);
