/** The schema of `recover --format json`; `schemas/recovery.schema.json` is generated from it. Members may be added. */
import { Type } from 'typebox';
import { addressParts, closed, count, diagnosticSchema } from '../../report/json/plan-schema.ts';

export const recoverySchema = Type.Object(
  {
    version: Type.Literal(1),
    stack: Type.String(),
    place: Type.String({ description: 'where the ledger is, for people' }),
    action: Type.Enum(['none', 'rebuild', 'adopt-repository', 'move-target'], {
      description: '"none": the ledger is there and whole',
    }),
    written: Type.Boolean({ description: 'false where it was only shown' }),
    was: Type.Optional(Type.String({ description: 'the former repository, or address of the target' })),
    is: Type.Optional(Type.String({ description: 'the present one' })),
    target: Type.Optional(Type.String({ description: 'with "move-target": its name' })),
    ids: Type.Array(Type.Object({ id: Type.String(), resources: Type.Array(Type.String()) }, closed), {
      description: 'ids of stacks in ownership tags that the ledger takes over, and who has them',
    }),
    records: Type.Array(
      Type.Object({ ...addressParts, origin: Type.Enum(['created', 'adopted']), fields: count }, closed),
      { description: 'what the ledger has afterwards; with "move-target" only of that target' },
    ),
    notRecorded: Type.Array(Type.Object({ ...addressParts, message: Type.String() }, closed), {
      description: 'what the ledger does not have afterwards, and why',
    }),
    releases: Type.Array(Type.String(), {
      description: 'released and not deleted once no longer declared: nothing else proves who created them',
    }),
    next: Type.Optional(
      Type.Array(Type.Object({ ...addressParts, action: Type.String() }, closed), {
        description: 'what the next plan would do with this ledger',
      }),
    ),
    setAside: Type.Optional(Type.String({ description: 'where the damaged ledger is now, for people' })),
    diagnostics: Type.Optional(Type.Array(diagnosticSchema)),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/recovery.schema.json', title: 'trueup recover' },
);
