/**
 * The schemas of one line of `apply --format jsonl`, and of other results; files of `schemas` are generated from them. Version
 * 1: types of events and members may be added; a reader ignores what it does not know.
 */
import { type Static, Type } from 'typebox';
import { partSchema } from './policies-schema.ts';
import {
  addressParts,
  closed,
  count,
  diagnosticSchema,
  fieldSchema,
  placeSchema,
  targetsSchema,
} from './plan-schema.ts';

const text = (description: string) => Type.String({ description });

const everyLine = {
  version: Type.Literal(1),
  seq: Type.Integer({ minimum: 0, description: 'counts the lines of a run, from 0, without a gap' }),
  time: Type.String({ format: 'date-time' }),
};

const resourceMembers = {
  address: text('kind/target/name'),
  kind: Type.String(),
  target: Type.String(),
  name: Type.String(),
  action: Type.Enum(['create', 'update', 'delete', 'release', 'adopt', 'none']),
};

const outcomeMembers = {
  outcome: Type.Enum(['applied', 'unchanged', 'stale', 'skipped', 'unknown', 'failed']),
  detail: Type.Optional(text('the reason, in the words of the service if it gives any')),
  place: Type.Optional(placeSchema),
  done: Type.Optional(
    Type.Array(Type.String(), { description: 'calls of the change that succeeded before it stopped' }),
  ),
  foundTrue: Type.Optional(
    Type.Literal(true, { description: 'failed or unknown, but a later read found it as desired' }),
  ),
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'warnings of the service' })),
};

const event = <T extends string, M extends Parameters<typeof Type.Object>[0]>(
  type: T,
  description: string,
  members: M,
) => Type.Object({ ...everyLine, type: Type.Literal(type), ...members }, { ...closed, description });

export const applyEventSchema = Type.Union(
  [
    event('started', 'the first line', { trueup: text('the version of the program') }),
    event('planned', 'the plan that this apply has made', {
      stack: Type.String(),
      digest: Type.String(),
      part: Type.Optional(partSchema),
      summary: Type.Object(
        { create: count, adopt: count, update: count, release: count, delete: count, unchanged: count },
        closed,
      ),
      acknowledge: Type.Array(Type.String(), {
        description: 'guards that block until they are acknowledged',
      }),
    }),
    event('applying', 'the plan is approved, and the run begins to write', { changes: count, calls: count }),
    event('change-started', 'the first call of a change is about to be sent', resourceMembers),
    event(
      'change-ended',
      'the outcome of a change; the verifying plan may correct it, then the last one counts',
      {
        ...resourceMembers,
        ...outcomeMembers,
        finished: count,
        changes: count,
      },
    ),
    event('diagnostic', 'a problem, when it is found', { diagnostic: diagnosticSchema }),
    event('ended', 'the last line; without it the run was killed', {
      exitCode: Type.Integer({ minimum: 0, maximum: 255 }),
      outcomes: Type.Optional(
        Type.Object(
          {
            applied: count,
            unchanged: count,
            stale: count,
            skipped: count,
            unknown: count,
            failed: count,
          },
          { ...closed, description: 'absent if the run did not begin to write' },
        ),
      ),
    }),
  ],
  { $id: 'https://trueup.dev/schemas/apply-event.schema.json', title: 'trueup apply --format jsonl' },
);

export type ApplyEventJson = Static<typeof applyEventSchema>;
export type OutcomeJson = Omit<
  Extract<ApplyEventJson, { type: 'change-ended' }>,
  'version' | 'seq' | 'time' | 'type' | 'finished' | 'changes'
>;

// The schemas of `validate`, `diff` and `apply` with `--format json`, except for plans; `schemas/*.schema.json` are generated from
// them. Version 1: members may be added.

const withDiagnostics = { diagnostics: Type.Optional(Type.Array(diagnosticSchema)) };

/** Also printed by every command that fails before it has a result. */
export const problemsSchema = Type.Object(
  {
    version: Type.Literal(1),
    summary: Type.Object(
      {
        errors: count,
        warnings: count,
        files: Type.Integer({ minimum: 0, description: 'files with problems; 0 if there are none' }),
      },
      closed,
    ),
    checked: Type.Optional(
      Type.Object(
        { files: count, documents: count, resources: count },
        { ...closed, description: 'what `validate` read, with or without problems' },
      ),
    ),
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
    ...withDiagnostics,
  },
  { ...closed, $id: 'https://trueup.dev/schemas/outcomes.schema.json', title: 'trueup apply' },
);

const comparedPlan = Type.Object({ name: Type.String(), digest: Type.String() }, closed);
const { path, ...sideOfField } = fieldSchema.properties;
const side = Type.Object(sideOfField, closed);

/** One member for each of the two plans. An absent one means that its plan has no such value. */
const sides = <M extends Parameters<typeof Type.Optional>[0]>(member: M) => ({
  one: Type.Optional(member),
  other: Type.Optional(member),
});

const texts = Type.Object(sides(Type.String()), closed);

const idsOfName = Type.Object(
  {
    id: Type.String({ description: 'the id that the name has now; the address of what the plan creates' }),
    recorded: Type.Array(Type.String(), { description: 'the ids that the ledger has for the name' }),
    recordedAs: Type.Optional(Type.String({ description: 'the address for which the ledger has the id' })),
  },
  closed,
);

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
        description: 'the declared resources of each; an absent side covers the whole stack',
      }),
    ),
    selectors: Type.Optional(
      Type.Object(sides(Type.Array(Type.String())), {
        ...closed,
        description: 'the selectors of each; an absent side was planned without "--select"',
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
          names: Type.Optional(
            Type.Array(Type.Object({ name: Type.String(), ...sides(idsOfName) }, closed), {
              description: 'names that refer to another object than the ledger recorded, where they differ',
            }),
          ),
          fields: Type.Array(Type.Object({ path, ...sides(side) }, closed), {
            description: 'the fields that differ',
          }),
        },
        closed,
      ),
    ),
    ...withDiagnostics,
  },
  { ...closed, $id: 'https://trueup.dev/schemas/difference.schema.json', title: 'trueup diff' },
);

const address = {
  address: Type.String({ description: 'kind/target/name' }),
  kind: Type.String(),
  target: Type.String(),
  name: Type.String(),
  path: Type.String({ description: 'JSON pointer below the spec; empty when it is the whole resource' }),
};

/** The schema of `accept --format json`; `schemas/accept.schema.json` is generated from it. Members may be added. */
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
      description: 'values that are not accepted; the diagnostics say why, and what to do',
    }),
    diagnostics: Type.Optional(Type.Array(diagnosticSchema)),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/accept.schema.json', title: 'trueup accept' },
);

/** The schema of `move --format json`; `schemas/move.schema.json` is generated from it. Members may be added. */
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

/** The schema of `recover --format json`; `schemas/recovery.schema.json` is generated from it. Members may be added. */
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
