/**
 * The schema of one line of `apply --format jsonl`; `schemas/apply-event.schema.json` is generated from it. Version 1: types of events
 * and members may be added, and a reader passes over what it does not know.
 */
import { type Static, Type } from 'typebox';
import { closed, count, diagnosticSchema, placeSchema } from './plan-schema.ts';

const text = (description: string) => Type.String({ description });

const everyLine = {
  version: Type.Literal(1),
  seq: Type.Integer({ minimum: 0, description: 'counts the lines of a run, from 0, without a gap' }),
  time: Type.String({ format: 'date-time' }),
};

export const resourceMembers = {
  address: text('kind/target/name'),
  kind: Type.String(),
  target: Type.String(),
  name: Type.String(),
  action: Type.Enum(['create', 'update', 'delete', 'release', 'adopt', 'none']),
};

export const outcomeMembers = {
  outcome: Type.Enum(['applied', 'unchanged', 'stale', 'skipped', 'unknown', 'failed']),
  detail: Type.Optional(text('the reason, in the words of the service where there are any')),
  place: Type.Optional(placeSchema),
  done: Type.Optional(
    Type.Array(Type.String(), { description: 'calls that were carried out before it stopped' }),
  ),
  foundTrue: Type.Optional(
    Type.Literal(true, { description: 'failed or unknown, and a look afterwards found it as desired' }),
  ),
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'of the service' })),
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
      summary: Type.Object(
        { create: count, adopt: count, update: count, release: count, delete: count, unchanged: count },
        closed,
      ),
      acknowledge: Type.Array(Type.String(), {
        description: 'guards that block until they are acknowledged',
      }),
    }),
    event('applying', 'it has consent, and begins to write', { changes: count, calls: count }),
    event('change-started', 'the first call of a change is about to be sent', resourceMembers),
    event('change-ended', 'what came of a change; after the plan that proves it, the last one holds', {
      ...resourceMembers,
      ...outcomeMembers,
      finished: count,
      changes: count,
    }),
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
          { ...closed, description: 'missing where it did not begin to write' },
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
