/**
 * The schemas of `validate`, `diff` and `apply` with `--format json`, where these are no plan; `schemas/*.schema.json` are generated from
 * them. Version 1: members may be added.
 */
import { Type } from 'typebox';
import { outcomeMembers, resourceMembers } from '../json/apply-event-schema.ts';
import {
  addressParts,
  closed,
  count,
  diagnosticSchema,
  fieldSchema,
  targetsSchema,
} from '../json/plan-schema.ts';

const told = { diagnostics: Type.Optional(Type.Array(diagnosticSchema)) };

/** Also what every command prints that fails before it has a result. */
export const problemsSchema = Type.Object(
  {
    version: Type.Literal(1),
    summary: Type.Object({ errors: count, warnings: count, files: count }, closed),
    diagnostics: Type.Array(diagnosticSchema),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/problems.schema.json', title: 'trueup validate' },
);

export const outcomesSchema = Type.Object(
  {
    version: Type.Literal(1),
    summary: Type.Object(
      { applied: count, unchanged: count, stale: count, skipped: count, unknown: count, failed: count },
      closed,
    ),
    outcomes: Type.Array(Type.Object({ ...resourceMembers, ...outcomeMembers }, closed)),
    ...told,
  },
  { ...closed, $id: 'https://trueup.dev/schemas/outcomes.schema.json', title: 'trueup apply' },
);

const comparedPlan = Type.Object({ name: Type.String(), digest: Type.String() }, closed);
const { path, ...sideOfField } = fieldSchema.properties;
const side = Type.Object(sideOfField, closed);

/** Of two members `one` and `other`, an absent one means that this plan has no such thing. */
const sides = <M extends Parameters<typeof Type.Optional>[0]>(member: M) => ({
  one: Type.Optional(member),
  other: Type.Optional(member),
});

const texts = Type.Object(sides(Type.String()), closed);

export const differenceSchema = Type.Object(
  {
    version: Type.Literal(1),
    same: Type.Boolean({ description: 'the two have the same digest' }),
    one: comparedPlan,
    other: comparedPlan,
    stack: Type.Optional(texts),
    targets: Type.Array(Type.Object({ name: Type.String(), ...sides(targetsSchema.items) }, closed)),
    selection: Type.Optional(
      Type.Object(sides(Type.Array(Type.String())), {
        ...closed,
        description: 'the declared resources of each; an absent side is about the whole stack',
      }),
    ),
    changes: Type.Array(
      Type.Object(
        {
          ...addressParts,
          ...sides(resourceMembers.action),
          ids: Type.Optional(texts),
          fingerprints: Type.Optional(texts),
          references: Type.Optional(
            Type.Array(Type.Object({ address: Type.String(), ...sides(Type.String()) }, closed), {
              description: 'remote ids of other resources that the change names, where they differ',
            }),
          ),
          fields: Type.Array(Type.Object({ path, ...sides(side) }, closed), {
            description: 'those that differ',
          }),
        },
        closed,
      ),
    ),
    ...told,
  },
  { ...closed, $id: 'https://trueup.dev/schemas/difference.schema.json', title: 'trueup diff' },
);
