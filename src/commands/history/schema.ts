/** The schema of `history --format json`; `schemas/history.schema.json` is generated from it. Members may be added. */
import { Type } from 'typebox';
import { approvalMethods } from '../../model/approval.ts';
import { policiesSchema } from '../../report/json/policies-schema.ts';
import { addressParts, closed, count, diagnosticSchema } from '../../report/json/plan-schema.ts';

const moment = (description: string) => Type.String({ format: 'date-time', description });

const run = Type.Object(
  {
    id: Type.String({ description: 'the same for every try of one CI job' }),
    attempt: Type.Optional(Type.Integer({ description: 'counts the tries of a CI job' })),
    sole: Type.Optional(Type.Boolean()),
    who: Type.String({ description: 'a person, or the actor that a CI names' }),
    where: Type.String({ description: 'the host' }),
    pid: Type.Optional(Type.Integer()),
    pidNamespace: Type.Optional(Type.String()),
    url: Type.Optional(Type.String({ description: 'page of the run in its CI' })),
  },
  { description: 'who applied, and where' },
);

const approval = Type.Object(
  {
    method: Type.Enum([...approvalMethods]),
    by: Type.String({ description: 'a user of the code host, or the name of the key that signed' }),
    digest: Type.String({ description: 'of the plan that was approved' }),
    commit: Type.String({ description: 'that was reviewed' }),
    at: moment('when it was given'),
    pullRequest: Type.Optional(Type.Integer()),
    acknowledged: Type.Array(Type.String(), { description: 'guards' }),
  },
  { description: 'of one person' },
);

const summary = Type.Object(
  {
    changes: count,
    applied: count,
    unchanged: count,
    stale: count,
    skipped: count,
    unknown: count,
    failed: count,
  },
  closed,
);

const entry = Type.Object({
  id: Type.String({ description: 'the id for "trueup history show"' }),
  stack: Type.String(),
  run,
  began: moment('when its first request was about to be sent'),
  ended: Type.Optional(moment('missing when it was killed, or still runs')),
  commit: Type.Optional(Type.String({ description: 'of the manifests' })),
  dirty: Type.Optional(Type.Boolean({ description: 'whether there were changes that were not committed' })),
  uncommitted: Type.Optional(
    Type.String({ description: 'hash of what was declared, if files of the stack had uncommitted changes' }),
  ),
  ignored: Type.Optional(
    Type.Literal(true, { description: 'git ignores all files with uncommitted changes' }),
  ),
  commitKept: Type.Optional(
    Type.Literal(true, {
      description: 'the ledger keeps the commits of earlier applies beside or instead of this one',
    }),
  ),
  policies: Type.Optional(policiesSchema),
  unchanged: Type.Optional(count),
  digest: Type.String(),
  acknowledged: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'guards that blocked its plan, and were acknowledged; missing in applies of older versions',
    }),
  ),
  part: Type.Optional(
    Type.Object(
      {
        selected: Type.Integer({ minimum: 0, description: 'how many resources were selected' }),
        of: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: 'of how many that the stack declared; missing for a selection on standard input',
          }),
        ),
      },
      { description: 'missing for an apply of the whole stack' },
    ),
  ),
  targets: Type.Optional(Type.Record(Type.String(), Type.String())),
  clocks: Type.Optional(
    Type.Record(Type.String(), Type.Integer(), {
      description:
        "milliseconds by which the clock of each target was ahead of the run's, below 0 behind; without targets that did not report their time",
    }),
  ),
  pruned: Type.Optional(
    Type.Object(
      {
        until: moment('when the newest of them ended'),
        endedApprovals: Type.Optional(Type.Record(Type.String(), Type.String())),
      },
      { description: 'older applies were dropped by "ledger prune"' },
    ),
  ),
  settled: Type.Optional(moment('when a later apply completed what this one left open')),
  openCreations: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'addresses of creations of earlier applies that may have been carried out: they exist or were not read, and the ledger has no record',
    }),
  ),
  proved: Type.Optional(
    Type.Literal(true, { description: 'the plan that was made afterwards, of the whole stack, was empty' }),
  ),
  endedApprovals: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'the approvals that it ended, by digest, with the time',
    }),
  ),
  approvals: Type.Optional(
    Type.Array(approval, { description: 'who approved it, as "trueup ci apply" verified' }),
  ),
  unrecorded: Type.Optional(
    Type.Literal(true, {
      description: 'the ledger may lack what was done: it could not be written, or the lock was lost',
    }),
  ),
  summary,
  changes: Type.Optional(
    Type.Array(Type.Object({ address: Type.String(), action: Type.String() }), {
      description: 'with "--resource": what this apply did to it, each field before and after',
    }),
  ),
});

export const historySchema = Type.Object(
  {
    version: Type.Literal(1),
    stack: Type.String(),
    entries: Type.Array(entry, { description: 'newest first' }),
    damaged: Type.Array(Type.String(), {
      description: 'a sentence for each entry that cannot be read; when there is one, the exit code is 1',
    }),
    diagnostics: Type.Optional(
      Type.Array(diagnosticSchema, { description: 'other diagnostics of the command' }),
    ),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/history.schema.json', title: 'trueup history' },
);

export const revertSchema = Type.Object(
  {
    version: Type.Literal(1),
    stack: Type.String(),
    id: Type.String({ description: 'the apply that is taken back' }),
    changes: Type.Array(
      Type.Object(
        {
          ...addressParts,
          action: Type.Enum(['create', 'update', 'delete', 'release', 'adopt', 'none'], {
            description: 'what the apply did',
          }),
          certain: Type.Boolean({
            description: 'false where it may not have been carried out, or only in part: check it first',
          }),
          remarks: Type.Array(Type.String(), {
            description: 'what to do by hand, and what cannot be taken back',
          }),
          manifests: Type.Array(Type.Object({}), {
            description:
              'what to declare: of an update only the values before, to merge into the document that declares it',
          }),
        },
        closed,
      ),
      { description: 'the last change first' },
    ),
    diagnostics: Type.Optional(Type.Array(diagnosticSchema)),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/revert.schema.json', title: 'trueup history show --revert' },
);
